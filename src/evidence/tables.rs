//! Columns of a Parquet file in memory.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::basic::Type;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

/// Values read from a column at once.
const BATCH: usize = 65_536;

#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("{path}: {error}")]
    Open { path: PathBuf, error: std::io::Error },
    #[error("{path}: {error}")]
    Read { path: PathBuf, error: ParquetError },
    #[error("{path}: column {column} is {found}")]
    Column { path: PathBuf, column: String, found: &'static str },
}

/// A text column: codes into the distinct texts.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    pub names: Vec<String>,
    pub codes: Vec<u16>,
}

#[derive(Debug, Clone)]
enum Column {
    Texts(Texts),
    Numbers(Vec<f64>),
}

/// A table, every column read.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    columns: HashMap<String, Column>,
}

impl Texts {
    pub fn get(&self, row: usize) -> &str {
        self.codes.get(row).and_then(|&code| self.names.get(usize::from(code))).map_or("", String::as_str)
    }
}

impl Table {
    /// Reads the columns named in `wanted`; those the file lacks are missing only when asked for.
    ///
    /// # Errors
    /// Where the file cannot be opened or decoded, or a column holds nulls.
    pub fn read(path: &Path, wanted: &[&str]) -> Result<Self, TableError> {
        let file = File::open(path).map_err(|error| TableError::Open { path: path.into(), error })?;
        let wrap = |error| TableError::Read { path: path.into(), error };
        let reader = SerializedFileReader::new(file).map_err(wrap)?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let mut columns = HashMap::new();
        for index in 0..schema.num_columns() {
            let name = schema.column(index).name().to_owned();
            if wanted.contains(&name.as_str()) {
                let column = match schema.column(index).physical_type() {
                    Type::BYTE_ARRAY => Column::Texts(texts(&reader, index).map_err(wrap)?),
                    _ => Column::Numbers(numbers(&reader, index).map_err(wrap)?),
                };
                columns.insert(name, column);
            }
        }
        Ok(Self { path: path.into(), columns })
    }

    /// # Errors
    /// Where the file has no such text column.
    pub fn texts(&self, name: &str) -> Result<&Texts, TableError> {
        match self.columns.get(name) {
            Some(Column::Texts(texts)) => Ok(texts),
            Some(Column::Numbers(_)) => Err(self.unlike(name, "a number")),
            None => Err(self.unlike(name, "missing")),
        }
    }

    /// # Errors
    /// Where the file has no such number column.
    pub fn numbers(&self, name: &str) -> Result<&[f64], TableError> {
        match self.columns.get(name) {
            Some(Column::Numbers(numbers)) => Ok(numbers),
            Some(Column::Texts(_)) => Err(self.unlike(name, "text")),
            None => Err(self.unlike(name, "missing")),
        }
    }

    fn unlike(&self, column: &str, found: &'static str) -> TableError {
        TableError::Column { path: self.path.clone(), column: column.into(), found }
    }
}

type Reader = SerializedFileReader<File>;

fn numbers(reader: &Reader, index: usize) -> Result<Vec<f64>, ParquetError> {
    let mut all = Vec::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let rows = group.metadata().num_rows() as usize;
        let read = match group.get_column_reader(index)? {
            ColumnReader::Int32ColumnReader(mut typed) => extend(&mut all, rows, |out, levels| {
                let mut values = Vec::with_capacity(BATCH);
                let read = typed.read_records(BATCH, Some(levels), None, &mut values)?.0;
                out.extend(values.into_iter().map(f64::from));
                Ok(read)
            }),
            ColumnReader::Int64ColumnReader(mut typed) => extend(&mut all, rows, |out, levels| {
                let mut values: Vec<i64> = Vec::with_capacity(BATCH);
                let read = typed.read_records(BATCH, Some(levels), None, &mut values)?.0;
                out.extend(values.into_iter().map(|value| value as f64));
                Ok(read)
            }),
            ColumnReader::FloatColumnReader(mut typed) => extend(&mut all, rows, |out, levels| {
                let mut values = Vec::with_capacity(BATCH);
                let read = typed.read_records(BATCH, Some(levels), None, &mut values)?.0;
                out.extend(values.into_iter().map(f64::from));
                Ok(read)
            }),
            ColumnReader::DoubleColumnReader(mut typed) => extend(&mut all, rows, |out, levels| {
                Ok(typed.read_records(BATCH, Some(levels), None, out)?.0)
            }),
            _ => Err(ParquetError::NYI("a column that is neither number nor text".into())),
        };
        read?;
    }
    Ok(all)
}

fn texts(reader: &Reader, index: usize) -> Result<Texts, ParquetError> {
    let mut texts = Texts::default();
    let mut seen: HashMap<Vec<u8>, u16> = HashMap::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let rows = group.metadata().num_rows() as usize;
        let ColumnReader::ByteArrayColumnReader(mut typed) = group.get_column_reader(index)? else {
            return Err(ParquetError::General("a text column that is not bytes".into()));
        };
        let Texts { names, codes } = &mut texts;
        extend(codes, rows, |out, levels| {
            let mut values: Vec<ByteArray> = Vec::with_capacity(BATCH);
            let read = typed.read_records(BATCH, Some(levels), None, &mut values)?.0;
            for value in values {
                let code = match seen.get(value.data()) {
                    Some(&code) => code,
                    None => {
                        let code = u16::try_from(names.len())
                            .map_err(|_| ParquetError::General("over 65,536 distinct texts".into()))?;
                        names.push(String::from_utf8_lossy(value.data()).into_owned());
                        seen.insert(value.data().to_vec(), code);
                        code
                    }
                };
                out.push(code);
            }
            Ok(read)
        })?;
    }
    Ok(texts)
}

/// Calls `read` until `rows` records are in `out`; a null leaves a record without a value.
fn extend<T>(
    out: &mut Vec<T>,
    rows: usize,
    mut read: impl FnMut(&mut Vec<T>, &mut Vec<i16>) -> Result<usize, ParquetError>,
) -> Result<(), ParquetError> {
    let (before, mut records, mut levels) = (out.len(), 0, Vec::new());
    while records < rows {
        levels.clear();
        let read = read(out, &mut levels)?;
        if read == 0 {
            break;
        }
        records += read;
    }
    if out.len() - before == rows {
        return Ok(());
    }
    Err(ParquetError::General(format!(
        "{} values in {rows} rows: nulls are not expected",
        out.len() - before
    )))
}
