//! A table of measurements in memory, and its rows as records.

use std::path::PathBuf;

use serde::de::value::{Error as RowError, MapDeserializer};
use serde::de::{Deserialize, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

/// A row that does not fit the record it is read as.
#[derive(Debug, thiserror::Error)]
#[error("{path}: row {row}: {fault}")]
pub struct UnreadRow {
    path: PathBuf,
    row: usize,
    fault: RowError,
}

/// A text column: codes into the distinct texts.
#[derive(Debug, Default)]
pub struct Texts {
    pub names: Vec<String>,
    pub codes: Vec<u16>,
}

#[derive(Debug)]
pub enum Column {
    Texts(Texts),
    Numbers(Vec<f64>),
}

/// A table, every column read.
#[derive(Debug)]
pub struct Table {
    /// Its file, for errors.
    pub path: PathBuf,
    pub rows: usize,
    pub columns: Vec<(String, Column)>,
}

impl Table {
    /// Every row, as two records: each takes the columns named like its fields.
    pub fn rows<'t, A: Deserialize<'t>, B: Deserialize<'t>>(
        &'t self,
    ) -> impl Iterator<Item = Result<(A, B), UnreadRow>> {
        (0..self.rows).map(|row| {
            let both = self.record(row).and_then(|first| Ok((first, self.record(row)?)));
            both.map_err(|fault| UnreadRow { path: self.path.clone(), row, fault })
        })
    }

    fn record<'t, T: Deserialize<'t>>(&'t self, row: usize) -> Result<T, RowError> {
        let cells = self.columns.iter().map(|(name, column)| (name.as_str(), column.cell(row)));
        T::deserialize(MapDeserializer::new(cells))
    }
}

/// One value of a row.
enum Cell<'t> {
    Text(&'t str),
    Number(f64),
}

impl Column {
    fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Self::Texts(texts) => Cell::Text(&texts.names[usize::from(texts.codes[row])]),
            Self::Numbers(numbers) => Cell::Number(numbers[row]),
        }
    }
}

impl<'t> IntoDeserializer<'t, RowError> for Cell<'t> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Cell<'de> {
    type Error = RowError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        match self {
            Self::Text(text) => visitor.visit_borrowed_str(text),
            Self::Number(number) if number.fract() == 0.0 && number >= 0.0 => {
                visitor.visit_u64(number as u64)
            }
            Self::Number(number) => visitor.visit_f64(number),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        visitor.visit_some(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
