//! Words searched for, in the page's English or in the language that it is read in.

/// A word asked for, in lower case.
pub struct Word<'a> {
    typed: &'a str,
    /// Whole texts of the page that are said with it in the language it is of; `{}` stands for what varies.
    meant: Vec<&'a str>,
}

impl<'a> Word<'a> {
    /// What is typed, in one line; where that is another language's, `static/boot/language/find.js` adds a line for each
    /// word, with the texts behind it between tabs.
    pub fn read(query: &'a str) -> Vec<Self> {
        let (typed, said) = query.split_once('\n').unwrap_or((query, ""));
        let words = said.lines().filter_map(|line| {
            let mut parts = line.split('\t');
            Some(Self { typed: parts.next()?, meant: parts.collect() })
        });
        match said {
            "" => typed.split_whitespace().map(|typed| Self { typed, meant: Vec::new() }).collect(),
            _ => words.collect(),
        }
    }

    /// Whether `text`, in lower case, holds the word, or a piece of it means it.
    pub fn is_in(&self, text: &str) -> bool {
        text.contains(self.typed)
            || (!self.meant.is_empty()
                && pieces(text).any(|piece| self.meant.iter().any(|text| is(piece, text))))
    }

    /// Whether `text` begins with the word, or means it.
    pub fn begins(&self, text: &str) -> bool {
        text.starts_with(self.typed) || self.meant.iter().any(|meant| is(text, meant))
    }
}

/// What is said in one: the whole, its sentences, and what stands between commas.
fn pieces<'a>(text: &'a str) -> impl Iterator<Item = &'a str> {
    let ends = |end| move |text: &'a str| text.split_inclusive(end).map(str::trim_end);
    let sentences =
        move || std::iter::once(text).flat_map(ends(". ")).flat_map(ends(": ")).flat_map(ends("; "));
    std::iter::once(text).chain(sentences()).chain(sentences().flat_map(|sentence| sentence.split(", ")))
}

/// Whether `text` reads as the template does.
fn is(text: &str, template: &str) -> bool {
    let Some((head, rest)) = template.split_once("{}") else { return text == template };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    let (between, tail) =
        rest.rsplit_once("{}").map_or((None, rest), |(between, tail)| (Some(between), tail));
    for part in between.into_iter().flat_map(|between| between.split("{}")) {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_read_in_order() {
        assert!(is("8192 in, 1024 out", "{} in, {} out") && is("a b", "a {}") && is("x", "{}"));
        assert!(!is("8192 out, 1024 in", "{} in, {} out") && !is("a", "a {}") && !is("3 ms now", "{} ms"));
    }
}
