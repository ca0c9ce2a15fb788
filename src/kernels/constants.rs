//! The constants of kernels and their features, and of serving. `static/catalog/constants.json` says what each is, its unit, its source and
//! what it was fitted on; each part reads its own by name.

/// `constants()` of one part: a struct with a field for each of its constants.
macro_rules! constants {
    ($part:literal: $($name:ident),+ $(,)?) => {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Constants { $(pub $name: f64),+ }

        /// The part's own of `static/catalog/constants.json`.
        pub fn constants() -> &'static Constants {
            static CONSTANTS: std::sync::LazyLock<Constants> =
                std::sync::LazyLock::new(|| match crate::config::catalog::constants().of($part) {
                    Ok(constants) => constants,
                    Err(fault) => panic!("{fault}: a test holds that no build is published with this"),
                });
            &CONSTANTS
        }
    };
}
pub(crate) use constants;
