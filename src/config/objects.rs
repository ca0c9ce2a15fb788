//! Reads records from parsed JSON. serde_json's own reader would also take every struct from a list of its fields, which
//! none of our files, links or messages use, and parse text in the code of every record: more for visitors to download.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer as _, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};

/// Parses `text`.
///
/// # Errors
/// If it is not JSON, or a field does not fit the record.
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(Fault::custom).and_then(|value| from_value(&value))
}

/// Parses `text` of `file`, which this build carries and native tests therefore read.
///
/// On the web no fault is returned through the record's code: that halves it for visitors to download. A record that is read
/// with [`from_json`], too, would be downloaded twice.
///
/// # Panics
/// If `text` does not fit the record.
pub fn carried<T: DeserializeOwned>(file: &str, text: &str) -> T {
    if cfg!(target_arch = "wasm32") {
        let value = serde_json::from_str(text).unwrap_or_else(|fault| panic!("{file}: {fault}"));
        return T::deserialize(Record::<Unread>::of(&value)).unwrap_or_else(|fault| match fault {});
    }
    from_json(text).unwrap_or_else(|fault| panic!("{file}: {fault}"))
}

/// Reads a record, like [`from_json`], from JSON that is already parsed.
///
/// # Errors
/// If a field does not fit the record.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, Fault> {
    T::deserialize(Record::of(value))
}

/// Which field does not fit, and why. Boxed: results are passed through all of a record's code.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault(Box<Misfit>);

#[derive(Debug, PartialEq, Eq)]
struct Misfit {
    /// The keys that lead to the field, outermost first, with points between them.
    path: String,
    why: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Misfit { path, why } = &*self.0;
        let between = if path.is_empty() { "" } else { ": " };
        write!(out, "{path}{between}{why}")
    }
}

impl std::error::Error for Fault {}

impl Error for Fault {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self(Box::new(Misfit { path: String::new(), why: why.to_string() }))
    }
}

/// What reading a record may fail with.
trait Failure: Error {
    /// The failure as one of the field `key`.
    fn under(self, key: &str) -> Self;
}

impl Failure for Fault {
    #[cold]
    #[inline(never)]
    fn under(mut self, key: &str) -> Self {
        let path = &mut self.0.path;
        let point = if path.is_empty() { "" } else { "." };
        path.insert_str(0, point);
        path.insert_str(0, key);
        self
    }
}

/// A failure that is not returned: it panics.
#[derive(Debug, thiserror::Error)]
enum Unread {}

impl Error for Unread {
    #[cold]
    #[inline(never)]
    fn custom<T: fmt::Display>(why: T) -> Self {
        panic!("{why}")
    }
}

impl Failure for Unread {
    fn under(self, _: &str) -> Self {
        self
    }
}

#[cold]
fn unlike<F: Failure>(value: &Value, wanted: &dyn serde::de::Expected) -> F {
    let found = match value {
        Value::Null => Unexpected::Other("null"),
        Value::Bool(given) => Unexpected::Bool(*given),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => Unexpected::Unsigned(whole),
            (_, Some(whole)) => Unexpected::Signed(whole),
            _ => Unexpected::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    };
    F::invalid_type(found, wanted)
}

struct Record<'a, F>(&'a Value, PhantomData<F>);

impl<'a, F> Record<'a, F> {
    fn of(value: &'a Value) -> Self {
        Self(value, PhantomData)
    }
}

impl<'de, F: Failure> Record<'de, F> {
    fn scalar<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, F> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(whole), _) => visitor.visit_u64(whole),
                (_, Some(whole)) => visitor.visit_i64(whole),
                _ => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_str(text),
            other => Err(unlike(other, &visitor)),
        }
    }
}

/// Methods that read the same as another.
macro_rules! alike {
    ($($method:ident($($argument:ty),*) = $other:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, $(_: $argument,)* visitor: V) -> Result<V::Value, F> {
            self.$other(visitor)
        })+
    };
}

impl<'de, F: Failure> Deserializer<'de> for Record<'de, F> {
    type Error = F;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, F> {
        match self.0 {
            Value::Array(_) => self.deserialize_seq(visitor),
            Value::Object(_) => self.deserialize_map(visitor),
            _ => self.scalar(visitor),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, F> {
        match self.0 {
            Value::Array(all) => {
                let mut list = List(all.iter(), PhantomData);
                let read = visitor.visit_seq(&mut list)?;
                match list.0.len() {
                    0 => Ok(read),
                    _ => Err(F::custom(format_args!("{} elements are too many", all.len()))),
                }
            }
            other => Err(unlike(other, &visitor)),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, F> {
        match self.0 {
            Value::Object(fields) => {
                visitor.visit_map(Fields { left: fields.iter(), last: None, failure: PhantomData })
            }
            other => Err(unlike(other, &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, F> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, F> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, F> {
        let only = |fields: &'de Map<String, Value>| fields.iter().next().filter(|_| fields.len() == 1);
        match self.0 {
            Value::String(name) => visitor.visit_enum(Variant(name, None, PhantomData)),
            Value::Object(fields) if let Some((name, content)) = only(fields) => visitor
                .visit_enum(Variant(name, Some(content), PhantomData))
                .map_err(|fault: F| fault.under(name)),
            other => Err(unlike(other, &visitor)),
        }
    }

    alike! {
        deserialize_bool() = scalar
        deserialize_i8() = scalar
        deserialize_i16() = scalar
        deserialize_i32() = scalar
        deserialize_i64() = scalar
        deserialize_u8() = scalar
        deserialize_u16() = scalar
        deserialize_u32() = scalar
        deserialize_u64() = scalar
        deserialize_f32() = scalar
        deserialize_f64() = scalar
        deserialize_char() = scalar
        deserialize_str() = scalar
        deserialize_string() = scalar
        deserialize_identifier() = scalar
        deserialize_unit() = scalar
        deserialize_unit_struct(&'static str) = scalar
        deserialize_tuple(usize) = deserialize_seq
        deserialize_tuple_struct(&'static str, usize) = deserialize_seq
        deserialize_struct(&'static str, &'static [&'static str]) = deserialize_map
    }

    forward_to_deserialize_any! { bytes byte_buf ignored_any }
}

struct List<'a, F>(std::slice::Iter<'a, Value>, PhantomData<F>);

impl<'de, F: Failure> SeqAccess<'de> for List<'de, F> {
    type Error = F;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, F> {
        self.0.next().map(|value| seed.deserialize(Record::of(value))).transpose()
    }
}

struct Fields<'a, F> {
    left: serde_json::map::Iter<'a>,
    /// The one whose key was read last.
    last: Option<(&'a String, &'a Value)>,
    failure: PhantomData<F>,
}

impl<'de, F: Failure> MapAccess<'de> for Fields<'de, F> {
    type Error = F;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, F> {
        self.last = self.left.next();
        self.last.map(|(key, _)| seed.deserialize(name(key))).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, F> {
        let (key, value) = self.last.take().ok_or_else(|| F::custom("a value before its key"))?;
        seed.deserialize(Record::of(value)).map_err(|fault: F| fault.under(key))
    }
}

fn name<F: Failure>(key: &str) -> StrDeserializer<'_, F> {
    key.into_deserializer()
}

/// The name of an enum's variant, and its content unless it is a name alone.
struct Variant<'a, F>(&'a str, Option<&'a Value>, PhantomData<F>);

impl<'a, F: Failure> Variant<'a, F> {
    fn content(self) -> Result<Record<'a, F>, F> {
        self.1.map(Record::of).ok_or_else(|| F::custom(format_args!("`{}` needs its fields", self.0)))
    }
}

impl<'de, F: Failure> EnumAccess<'de> for Variant<'de, F> {
    type Error = F;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), F> {
        Ok((seed.deserialize(name(self.0))?, self))
    }
}

impl<'de, F: Failure> VariantAccess<'de> for Variant<'de, F> {
    type Error = F;

    fn unit_variant(self) -> Result<(), F> {
        match self.1 {
            None | Some(Value::Null) => Ok(()),
            Some(other) => Err(unlike(other, &"a name alone")),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, F> {
        seed.deserialize(self.content()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, F> {
        self.content()?.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, F> {
        self.content()?.deserialize_map(visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::from_json;
    use crate::config::Issue;

    #[test]
    fn records_are_read_from_objects_only() {
        let text = r#"{"field":"isl","severity":"note","text":"one"}"#;
        let issue: Issue = from_json(text).unwrap();
        assert_eq!(issue, serde_json::from_str(text).unwrap());
        let list = r#"["isl","note","one",null]"#;
        assert_eq!(serde_json::from_str::<Issue>(list).unwrap(), issue);
        assert!(from_json::<Issue>(list).unwrap_err().to_string().starts_with("invalid type: sequence"));
        assert!(from_json::<Issue>(&format!("{text} x")).unwrap_err().to_string().contains("trailing"));
    }

    #[test]
    fn faults_name_the_field() {
        let fault = from_json::<Vec<Issue>>(r#"[{"field":"isl","severity":"note","text":1}]"#).unwrap_err();
        assert_eq!(fault.to_string(), "text: invalid type: integer `1`, expected a string");
        let of = |text: &str| from_json::<[u32; 2]>(text).unwrap_err().to_string();
        assert_eq!(of("[1, 2, 3]"), "3 elements are too many");
        assert!(of("[1]").contains("invalid length"));
    }
}
