//! The part of regular expressions that quantisation records use: literals, `.`, classes, `* + ?`, and
//! alternatives in round brackets. Anything else is not understood, and said so.

/// Longest expression read, and most alternatives it may come to: real ones are a line.
const CHARACTERS: usize = 400;
const ALTERNATIVES: usize = 64;

/// Alternatives, each a row of atoms.
#[derive(Debug, Clone, PartialEq)]
pub struct Regex(Vec<Vec<Atom>>);

#[derive(Debug, Clone, PartialEq)]
struct Atom {
    /// The characters it stands for: ranges, none for any.
    ranges: Vec<(char, char)>,
    /// May be absent, may come again.
    optional: bool,
    repeated: bool,
}

impl Regex {
    /// None for what is not understood.
    pub fn parse(text: &str) -> Option<Self> {
        if text.chars().count() > CHARACTERS {
            return None;
        }
        let text = text.strip_prefix('^').unwrap_or(text);
        let alternatives = expand(text)?;
        alternatives.iter().map(|text| atoms(text)).collect::<Option<Vec<_>>>().map(Self)
    }

    /// Whether the text begins with a match, as Python's `re.match` asks.
    pub fn matches_start(&self, text: &str) -> bool {
        self.0.iter().any(|atoms| matches_start(atoms, text))
    }
}

/// Multiplies round brackets out. Brackets in brackets are not understood.
fn expand(text: &str) -> Option<Vec<String>> {
    let mut all = vec![String::new()];
    let mut rest = text;
    while let Some(open) = bracket(rest, '(') {
        let (before, inside) = (rest.get(..open)?, rest.get(open + 1..)?);
        let close = bracket(inside, ')')?;
        let (inside, after) = (inside.get(..close)?, inside.get(close + 1..)?);
        let inside = inside.strip_prefix("?:").unwrap_or(inside);
        if bracket(inside, '(').is_some() || after.starts_with(['*', '+', '?', '{']) {
            return None;
        }
        let choices: Vec<&str> = inside.split('|').collect();
        if all.len() * choices.len() > ALTERNATIVES {
            return None;
        }
        all = all
            .iter()
            .flat_map(|head| choices.iter().map(move |choice| format!("{head}{before}{choice}")))
            .collect();
        rest = after;
    }
    if bracket(rest, ')').is_some() || rest.contains('|') {
        return None;
    }
    all.iter_mut().for_each(|text| text.push_str(rest));
    Some(all)
}

/// Where the bracket stands that no backslash precedes.
fn bracket(text: &str, which: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(place, c)| {
        let found = c == which && !escaped;
        escaped = c == '\\' && !escaped;
        found.then_some(place)
    })
}

fn atoms(text: &str) -> Option<Vec<Atom>> {
    let mut atoms: Vec<Atom> = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let ranges = match c {
            '.' => Vec::new(),
            '\\' => match characters.next()? {
                'd' => vec![('0', '9')],
                'w' => vec![('0', '9'), ('a', 'z'), ('A', 'Z'), ('_', '_')],
                c if c.is_ascii_alphanumeric() => return None,
                c => vec![(c, c)],
            },
            '[' => class(&mut characters)?,
            // The end of the text, which a match may go up to anyway.
            '$' if characters.peek().is_none() => break,
            '*' | '+' | '?' => {
                let last = atoms.last_mut()?;
                last.optional |= c != '+';
                last.repeated |= c != '?';
                continue;
            }
            '{' | '}' | ']' | '^' | '$' => return None,
            c => vec![(c, c)],
        };
        atoms.push(Atom { ranges, optional: false, repeated: false });
    }
    Some(atoms)
}

/// The inside of square brackets.
fn class(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<Vec<(char, char)>> {
    let mut ranges: Vec<(char, char)> = Vec::new();
    loop {
        match characters.next()? {
            ']' => return (!ranges.is_empty()).then_some(ranges),
            '^' | '\\' | '[' => return None,
            '-' => {
                let last = ranges.last_mut()?;
                last.1 = characters.next().filter(|c| c.is_ascii_alphanumeric())?;
            }
            c => ranges.push((c, c)),
        }
    }
}

/// Follows all ways through the atoms at once, so that no expression takes more than length times length.
fn matches_start(atoms: &[Atom], text: &str) -> bool {
    let mut at = vec![false; atoms.len() + 1];
    if let Some(first) = at.first_mut() {
        *first = true;
    }
    skip(atoms, &mut at);
    for c in text.chars() {
        if at.last() == Some(&true) {
            return true;
        }
        let mut next = vec![false; at.len()];
        for (place, atom) in atoms.iter().enumerate() {
            let here = at.get(place) == Some(&true);
            let fits =
                atom.ranges.is_empty() || atom.ranges.iter().any(|(low, high)| (*low..=*high).contains(&c));
            if here && fits {
                let to = [Some(place + 1), atom.repeated.then_some(place)];
                for entry in to.into_iter().flatten() {
                    if let Some(entry) = next.get_mut(entry) {
                        *entry = true;
                    }
                }
            }
        }
        at = next;
        skip(atoms, &mut at);
    }
    at.last() == Some(&true)
}

/// From each place on past the atoms that may be absent.
fn skip(atoms: &[Atom], at: &mut [bool]) {
    for (place, atom) in atoms.iter().enumerate() {
        if atom.optional
            && at.get(place) == Some(&true)
            && let Some(next) = at.get_mut(place + 1)
        {
            *next = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Regex::parse(pattern).unwrap().matches_start(text)
    }

    #[test]
    fn what_records_use_is_understood() {
        assert!(matches(".*self_attn.*", "model.layers.0.self_attn.q_proj"));
        let mlp = r".*mlp\.(gate|up|gate_up|down)_proj.*";
        assert!(matches(mlp, "model.layers.0.mlp.gate_up_proj"));
        assert!(!matches(mlp, "model.layers.0.mlp.experts.0.up_proj"));
        assert!(matches(r"model\.layers\.\d+\.mlp", "model.layers.12.mlp.up_proj"));
        assert!(!matches(r"model\.layers\.[0-3]\.", "model.layers.4.mlp"));
        assert!(matches("^lm_head$", "lm_head"));
        assert!(!matches("mlp", "model.mlp"));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for odd in ["(a(b))", "a{2}", "(ab)+", "[^a]", r"\bfoo", "a|b", "*", "[", "(", ")"] {
            assert_eq!(Regex::parse(odd), None, "{odd}");
        }
        let hostile = "(a|b)".repeat(40);
        assert_eq!(Regex::parse(&hostile), None);
        assert!(!matches(&format!("{}y", ".*".repeat(150)), &"x".repeat(500)));
    }
}
