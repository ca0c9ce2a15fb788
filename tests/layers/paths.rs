//! The paths that a source file names.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Segments of one path, with `use` groups spelled out and `super` resolved up to the crate.
pub type UsedPath = Vec<String>;

pub struct SourceFile {
    /// Path below `src`, as `kernels/gemm.rs`.
    pub name: String,
    /// The folder of `src` it lies in.
    pub folder: String,
    tokens: TokenStream,
}

impl SourceFile {
    pub fn parse(name: &str, source: &str) -> Self {
        let tokens = source.parse().unwrap_or_else(|error| panic!("src/{name}: {error}"));
        let folder = name.split('/').next().unwrap_or_default().to_owned();
        Self { name: name.to_owned(), folder, tokens }
    }

    pub fn used_paths(&self) -> Vec<UsedPath> {
        let mut paths = Vec::new();
        collect(self.tokens.clone(), self.depth(), &mut paths);
        paths
    }

    /// How many modules deep the file is: `kernels/mod.rs` one, `kernels/gemm.rs` two.
    fn depth(&self) -> usize {
        self.name.strip_suffix("/mod.rs").unwrap_or(&self.name).split('/').count()
    }
}

/// Adds every path of `tokens`, which stand in a module `depth` deep.
fn collect(tokens: TokenStream, depth: usize, paths: &mut Vec<UsedPath>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            TokenTree::Ident(word) if word == "mod" => {
                if let [TokenTree::Ident(_), TokenTree::Group(body), after @ ..] = rest {
                    collect(body.stream(), depth + 1, paths);
                    rest = after;
                }
            }
            TokenTree::Ident(word) => {
                rest = path(vec![word.to_string()], rest, depth, paths);
            }
            TokenTree::Group(group) => collect(group.stream(), depth, paths),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Follows a path that began with `segments` and goes on in `rest`; returns what comes after it.
fn path<'a>(
    mut segments: UsedPath,
    mut rest: &'a [TokenTree],
    depth: usize,
    paths: &mut Vec<UsedPath>,
) -> &'a [TokenTree] {
    while let [TokenTree::Punct(first), TokenTree::Punct(second), next, after @ ..] = rest {
        if first.as_char() != ':' || second.as_char() != ':' {
            break;
        }
        match next {
            TokenTree::Ident(word) => segments.push(word.to_string()),
            TokenTree::Punct(star) if star.as_char() == '*' => segments.push("*".to_owned()),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let mut inner = Vec::new();
                collect(group.stream(), usize::MAX, &mut inner);
                paths.extend(inner.into_iter().map(|path| resolve([segments.clone(), path].concat(), depth)));
                return after;
            }
            _ => break,
        }
        rest = after;
    }
    paths.push(resolve(segments, depth));
    rest
}

/// Replaces as many leading `super` as lead out of all modules by `crate`.
fn resolve(path: UsedPath, depth: usize) -> UsedPath {
    let up = path.iter().take_while(|segment| *segment == "super").count();
    if up > 0 && up >= depth {
        let below = path.into_iter().skip(up);
        return std::iter::once("crate".to_owned()).chain(below).collect();
    }
    path
}
