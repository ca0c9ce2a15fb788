//! The terms of `docs/glossary.md`: found by the search, and defined where a table uses them.

/// Each row's terms and their meaning.
pub fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = include_str!("../../docs/glossary.md").lines().filter_map(|line| line.strip_prefix("| "));
    // The first row is the header.
    rows.filter_map(|row| row.strip_suffix(" |")?.split_once(" | ")).skip(1)
}

/// The meaning of the head of a column or row; empty if the glossary has no term that it begins with.
pub fn meaning(head: &str) -> &'static str {
    let head = head.to_ascii_lowercase();
    let begins = |term: &str| {
        let rest = head.strip_prefix(&*term.to_ascii_lowercase());
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let named = |terms: &'static str| terms.split(", ").filter(|term| begins(term)).map(str::len).max();
    let found = rows().filter_map(|(terms, meaning)| Some((named(terms)?, meaning)));
    found.max_by_key(|(length, _)| *length).map_or("", |(_, meaning)| meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_have_the_meaning_of_their_longest_term() {
        assert!(meaning("TTFT (P99)").starts_with("time to first token"));
        assert!(meaning("Output, tok/s").starts_with("output tokens per second"));
        assert!(meaning("Output per GPU, tok/s").contains("number of GPUs"));
        assert_eq!(meaning("Outputs"), "");
        assert_eq!(meaning(""), "");
    }

    #[test]
    fn no_two_rows_have_the_same_term() {
        let mut terms: Vec<String> =
            rows().flat_map(|(terms, _)| terms.split(", ")).map(str::to_lowercase).collect();
        let all = terms.len();
        terms.sort_unstable();
        terms.dedup();
        assert_eq!(terms.len(), all);
    }
}
