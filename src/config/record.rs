//! Records read from JSON: catalogs and models.
//!
//! serde's derived readers would do the same, but each is compiled anew for every record: they took
//! 50 KB of the page's first download (gzip), these 4 KB.

use std::collections::BTreeMap;

use super::issue::excerpt;
use super::json::{self, Json, Object};

/// A value with one reading. Reading always gives a value; what did not fit is in the faults.
pub trait Record: Sized {
    fn read(json: &Json, faults: &mut Faults) -> Self;
}

/// The first thing that did not fit.
#[derive(Debug, Default)]
pub struct Faults(Option<String>);

static EMPTY: Object = Object::EMPTY;

impl Faults {
    pub fn note(&mut self, found: &Json, wanted: &str) {
        self.say(|| format!("{} stands where {wanted} is right", found.kind()));
    }

    fn say(&mut self, text: impl FnOnce() -> String) {
        self.0.get_or_insert_with(text);
    }

    /// The object a record with these fields is read from. Another field in it is a fault: a newer
    /// release may mean something by it.
    pub fn object<'a>(&mut self, json: &'a Json, fields: &[&str]) -> &'a Object {
        let Json::Object(object) = json else {
            self.note(json, "an object");
            return &EMPTY;
        };
        if let Some((name, _)) = object.pairs().find(|(name, _)| !fields.contains(name)) {
            self.say(|| format!("`{}` is no field here; {} are", excerpt(name), fields.join(", ")));
        }
        object
    }

    /// One field; its fault names it. Kept out of line: it is called for every field of every record.
    #[inline(never)]
    pub fn field<T: Record>(&mut self, object: &Object, name: &str) -> T {
        let mut inner = Self::default();
        let value = T::read(object.get(name).unwrap_or(&Json::Null), &mut inner);
        if let Some(text) = inner.0 {
            self.say(|| format!("{name}: {text}"));
        }
        value
    }
}

/// Reads one record, or says what does not fit.
pub fn read<T: Record>(text: &str) -> Result<T, String> {
    of(&Json::Object(json::parse(text)?))
}

/// The same from JSON already parsed.
pub fn of<T: Record>(json: &Json) -> Result<T, String> {
    let mut faults = Faults::default();
    let value = T::read(json, &mut faults);
    match faults.0 {
        None => Ok(value),
        Some(text) => Err(text),
    }
}

/// A struct whose fields bear the names in the file.
macro_rules! record {
    ($type:ty: $($field:ident),+ $(,)?) => {
        impl $crate::config::record::Record for $type {
            fn read(json: &$crate::config::json::Json, faults: &mut $crate::config::record::Faults) -> Self {
                let object = faults.object(json, &[$(stringify!($field)),+]);
                Self { $($field: faults.field(object, stringify!($field))),+ }
            }
        }
    };
}
pub(crate) use record;

/// An enum without contents, by the names in the file.
macro_rules! names {
    ($type:ty: $first:ident = $name:literal $(, $variant:ident = $other:literal)* $(,)?) => {
        impl $crate::config::record::Record for $type {
            fn read(json: &$crate::config::json::Json, faults: &mut $crate::config::record::Faults) -> Self {
                match json.as_text() {
                    Some($name) => Self::$first,
                    $(Some($other) => Self::$variant,)*
                    _ => {
                        faults.note(json, concat!("one of ", $name $(, ", ", $other)*));
                        Self::$first
                    }
                }
            }
        }
    };
}
pub(crate) use names;

impl Record for String {
    fn read(json: &Json, faults: &mut Faults) -> Self {
        if let Json::Text(text) = json {
            return text.clone();
        }
        faults.note(json, "text");
        Self::new()
    }
}

impl Record for f64 {
    fn read(json: &Json, faults: &mut Faults) -> Self {
        if let Json::Number(number) = json {
            return *number;
        }
        faults.note(json, "a number");
        0.0
    }
}

impl Record for u32 {
    fn read(json: &Json, faults: &mut Faults) -> Self {
        let number = f64::read(json, faults);
        if number.fract() != 0.0 || !(0.0..=f64::from(Self::MAX)).contains(&number) {
            faults.note(json, "a whole number of at most 32 bits");
        }
        number as Self
    }
}

impl Record for bool {
    fn read(json: &Json, faults: &mut Faults) -> Self {
        if let Json::Bool(flag) = json {
            return *flag;
        }
        faults.note(json, "true or false");
        false
    }
}

impl<T: Record> Record for Option<T> {
    fn read(json: &Json, faults: &mut Faults) -> Self {
        (*json != Json::Null).then(|| T::read(json, faults))
    }
}

/// A list; empty where it is left out.
impl<T: Record> Record for Vec<T> {
    fn read(json: &Json, faults: &mut Faults) -> Self {
        match json {
            Json::List(items) => items.iter().map(|item| T::read(item, faults)).collect(),
            Json::Null => Self::new(),
            _ => {
                faults.note(json, "a list");
                Self::new()
            }
        }
    }
}

impl<T: Record> Record for BTreeMap<String, T> {
    fn read(json: &Json, faults: &mut Faults) -> Self {
        let Json::Object(object) = json else {
            faults.note(json, "an object");
            return Self::new();
        };
        // Collecting would sort first, with a sort compiled for every `T`.
        let mut map = Self::new();
        for (name, value) in object.pairs() {
            map.insert(name.to_owned(), T::read(value, faults));
        }
        map
    }
}
