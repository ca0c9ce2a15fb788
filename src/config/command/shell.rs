//! Shell operators, which need no spaces around them.

/// Operators between two commands.
pub const OPERATORS: [&str; 5] = ["&&", "||", "|", ";", "&"];

/// The line with spaces around operators outside quotation marks, and without redirections and their files: `TP=8;serve>log 2>&1`.
pub fn spaced(line: &str) -> String {
    let mut all = String::with_capacity(line.len());
    let mut quote = None;
    let mut rest = line;
    while let Some(letter) = rest.chars().next() {
        let after = &rest[letter.len_utf8()..];
        if letter == '\\' && quote != Some('\'') {
            let next = after.chars().next().map_or(0, char::len_utf8);
            all += &rest[..letter.len_utf8() + next];
            rest = &after[next..];
            continue;
        }
        match quote {
            Some(open) if open == letter => quote = None,
            None if matches!(letter, '\'' | '"') => quote = Some(letter),
            _ => {}
        }
        if quote.is_some() || matches!(letter, '\'' | '"') {
            all.push(letter);
            rest = after;
        } else if let Some(end) = redirection(rest).filter(|_| may_redirect(&all, letter)) {
            all.push(' ');
            rest = &rest[end..];
        } else if let Some(operator) = OPERATORS.into_iter().find(|operator| rest.starts_with(operator)) {
            all += " ";
            all += operator;
            all += " ";
            rest = &rest[operator.len()..];
        } else {
            all.push(letter);
            rest = after;
        }
    }
    all
}

/// Whether a redirection may follow `before`: `log>file`, but `<model>` is a placeholder.
fn may_redirect(before: &str, letter: char) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    word.is_empty() || letter == '>' && !word.contains('<')
}

/// The length of a redirection at the start, with its file; `None` if there is none, or its file's quotation mark is not closed.
fn redirection(text: &str) -> Option<usize> {
    let operator = text.strip_prefix(|letter: char| letter.is_ascii_digit() || letter == '&').unwrap_or(text);
    let begins = operator.starts_with('>') || operator.starts_with("<<") || operator.starts_with("< ");
    let file = begins.then(|| operator.trim_start_matches(['>', '<']))?;
    let file = file.strip_prefix('&').unwrap_or(file).trim_start();
    Some(text.len() - file.len() + word_length(file)?)
}

/// The length of the word at the start, in which `(` may hold a command; `None` if a quotation mark is not closed.
fn word_length(text: &str) -> Option<usize> {
    let (mut quote, mut depth) = (None, 0_u32);
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (Some('"') | None, '\\') => drop(letters.next()),
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, _) if depth > 0 => {}
            (None, ';' | '|' | '&') => return Some(at),
            (None, _) if letter.is_whitespace() => return Some(at),
            _ => {}
        }
    }
    quote.is_none().then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::spaced;

    #[test]
    fn operators_and_redirections_need_no_spaces() {
        let words = |line: &str| spaced(line).split_whitespace().collect::<Vec<_>>().join(" ");
        for (line, wanted) in [
            ("TP=2;serve -tp $TP&", "TP=2 ; serve -tp $TP &"),
            ("a&&b||c|d", "a && b || c | d"),
            ("serve > out.log 2>&1 --tp 2", "serve --tp 2"),
            ("serve >out.log 2> err.log </dev/null", "serve </dev/null"),
            ("serve < /dev/null &> log", "serve"),
            ("serve 2>&1|tee log", "serve | tee log"),
            ("serve '>a;b' \"c;&d\" e\\;f", "serve '>a;b' \"c;&d\" e\\;f"),
            ("serve --model <model> -tp 2", "serve --model <model> -tp 2"),
            ("cat > file <<EOF", "cat"),
            ("serve > \"my log.txt\" 2>&1 -tp 2", "serve -tp 2"),
            ("serve > s_$(date +%s).log > >(tee log) > my\\ log -tp 2", "serve -tp 2"),
            ("serve > 'open", "serve > 'open"),
            ("serve é;b", "serve é ; b"),
        ] {
            assert_eq!(words(line), wanted, "{line}");
        }
    }
}
