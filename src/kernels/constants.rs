//! Constants of kernels, features and serving. `static/catalog/constants.json` has the meaning, unit, source and
//! fit data of each; every module reads its own by name.

/// Defines `constants()` of a module: a struct with one field per constant.
macro_rules! constants {
    ($part:literal: $($name:ident),+ $(,)?) => {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Constants { $(pub $name: f64),+ }

        /// This module's part of `static/catalog/constants.json`.
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
