//! Enums with a stable name per variant, used in links, files and messages.

/// `ALL`, `id` and `from_id` of an enum that derives strum's `EnumString`, `IntoStaticStr` and `VariantArray`.
macro_rules! ids {
    ($type:ident) => {
        impl $type {
            pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

            /// The stable name: in files, messages and links.
            pub fn id(self) -> &'static str {
                self.into()
            }

            /// The variant that `id` names.
            pub fn from_id(id: &str) -> Option<Self> {
                id.parse().ok()
            }
        }
    };
}
pub(crate) use ids;
