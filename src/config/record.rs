//! Records: what catalogs, links and messages hold, described once and read and written in several forms.
//!
//! serde would do the same, but compiles every reader anew for every record and format. Here a record only
//! walks through its fields, and what a walk does is the walker's: one JSON reader, one JSON writer and the
//! compact catalog's two serve all records.

use crate::units::{BytesPerSecond, FlopsPerSecond};

/// A value that a walker reads or writes. Its `Default` is what it is before it is read.
pub trait Record {
    fn walk(&mut self, walker: &mut dyn Walker);
}

/// Goes through the values of a record in order. Readers set each value, writers leave them as they are.
pub trait Walker {
    /// An object with these fields: a value each, then `end`.
    fn object(&mut self, fields: &'static [&'static str]);
    /// An object with exactly one of these fields, its value, then `end`.
    fn variant(&mut self, chosen: &mut usize, names: &'static [&'static str]);
    /// So many values, then `end`.
    fn list(&mut self, length: &mut usize);
    /// So many times a `key` and a value, then `end`.
    fn map(&mut self, length: &mut usize);
    fn key(&mut self, key: &mut String);
    /// A list of two values, then `end`; `wanted` says what they are.
    fn pair(&mut self, wanted: &'static str);
    fn end(&mut self);
    /// Whether there is a value; it follows if so.
    fn option(&mut self, there: &mut bool);
    fn text(&mut self, text: &mut String);
    fn number(&mut self, number: &mut f64);
    fn whole(&mut self, number: &mut u32);
    fn flag(&mut self, flag: &mut bool);
    /// One of these names.
    fn name(&mut self, chosen: &mut usize, names: &'static [&'static str]);
    /// A value that is not read.
    fn skip(&mut self);
}

/// A struct whose fields bear the names in the file.
macro_rules! record {
    ($type:ty: $($field:ident),+ $(,)?) => {
        impl $crate::config::record::Record for $type {
            fn walk(&mut self, walker: &mut dyn $crate::config::record::Walker) {
                walker.object(&[$(stringify!($field)),+]);
                $(self.$field.walk(walker);)+
                walker.end();
            }
        }
    };
}
pub(crate) use record;

/// An enum without contents, by the names in the file; the first is its default.
macro_rules! names {
    ($type:ty: $first:ident = $name:literal $(, $variant:ident = $other:literal)* $(,)?) => {
        impl Default for $type {
            fn default() -> Self {
                Self::$first
            }
        }

        impl $crate::config::record::Record for $type {
            fn walk(&mut self, walker: &mut dyn $crate::config::record::Walker) {
                const ALL: &[$type] = &[<$type>::$first $(, <$type>::$variant)*];
                // Does not compile where a variant has no name.
                match self { Self::$first => {} $(Self::$variant => {})* }
                let mut chosen = ALL.iter().position(|one| one == self).unwrap_or(0);
                walker.name(&mut chosen, &[$name $(, $other)*]);
                *self = ALL.get(chosen).copied().unwrap_or_default();
            }
        }
    };
}
pub(crate) use names;

/// The same for enums whose names are spoken elsewhere too: with `ALL` of them and the `id` of each.
macro_rules! ids {
    ($type:ident: $($variant:ident = $name:literal),+ $(,)?) => {
        $crate::config::record::names!($type: $($variant = $name),+);

        impl $type {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The stable name: in files, messages and links.
            pub fn id(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// What `id` names.
            pub fn from_id(id: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.id() == id)
            }
        }
    };
}
pub(crate) use ids;

/// An enum whose variants each hold a record: an object with the variant's name as its one key.
macro_rules! variants {
    ($type:ident: $first:ident($content:ty) = $name:literal $(, $variant:ident($other:ty) = $named:literal)* $(,)?) => {
        impl Default for $type {
            fn default() -> Self {
                Self::$first(<$content>::default())
            }
        }

        impl $crate::config::record::Record for $type {
            fn walk(&mut self, walker: &mut dyn $crate::config::record::Walker) {
                const NAMES: &[&str] = &[$name $(, $named)*];
                let own = match self { Self::$first(_) => $name $(, Self::$variant(_) => $named)* };
                let own = NAMES.iter().position(|name| *name == own).unwrap_or(0);
                let mut chosen = own;
                walker.variant(&mut chosen, NAMES);
                if chosen != own {
                    *self = match NAMES.get(chosen) {
                        $(Some(&$named) => Self::$variant(<$other>::default()),)*
                        _ => Self::default(),
                    };
                }
                match self {
                    Self::$first(content) => content.walk(walker),
                    $(Self::$variant(content) => content.walk(walker),)*
                }
                walker.end();
            }
        }
    };
}
pub(crate) use variants;

/// A map in the file's order.
#[derive(Debug, Clone, PartialEq)]
pub struct Map<T>(pub Vec<(String, T)>);

impl<T> Map<T> {
    pub fn get(&self, key: &str) -> Option<&T> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

impl<T> Default for Map<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// A part of a file that this build does not read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unread;

impl Record for Unread {
    fn walk(&mut self, walker: &mut dyn Walker) {
        walker.skip();
    }
}

impl Record for String {
    fn walk(&mut self, walker: &mut dyn Walker) {
        walker.text(self);
    }
}

impl Record for f64 {
    fn walk(&mut self, walker: &mut dyn Walker) {
        walker.number(self);
    }
}

macro_rules! quantities {
    ($($type:ty),+) => {
        $(impl Record for $type {
            fn walk(&mut self, walker: &mut dyn Walker) {
                walker.number(&mut self.0);
            }
        })+
    };
}
quantities!(BytesPerSecond, FlopsPerSecond);

impl Record for u32 {
    fn walk(&mut self, walker: &mut dyn Walker) {
        walker.whole(self);
    }
}

impl Record for bool {
    fn walk(&mut self, walker: &mut dyn Walker) {
        walker.flag(self);
    }
}

impl<T: Record + Default> Record for Option<T> {
    fn walk(&mut self, walker: &mut dyn Walker) {
        let mut there = self.is_some();
        walker.option(&mut there);
        if there {
            self.get_or_insert_with(T::default).walk(walker);
        } else {
            *self = None;
        }
    }
}

/// A list; empty where it is left out.
impl<T: Record + Default> Record for Vec<T> {
    fn walk(&mut self, walker: &mut dyn Walker) {
        let mut length = self.len();
        walker.list(&mut length);
        self.resize_with(length, T::default);
        for item in self {
            item.walk(walker);
        }
        walker.end();
    }
}

impl<T: Record + Default> Record for Map<T> {
    fn walk(&mut self, walker: &mut dyn Walker) {
        let mut length = self.0.len();
        walker.map(&mut length);
        self.0.resize_with(length, Default::default);
        for (key, value) in &mut self.0 {
            walker.key(key);
            value.walk(walker);
        }
        walker.end();
    }
}
