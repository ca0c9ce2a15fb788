//! Reads Parquet files into tables.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::basic::Type;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::kernels::measured::{Column, Table, Texts, UnreadRow};

#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("{path}: {error}")]
    Open { path: PathBuf, error: std::io::Error },
    #[error("{path}: {error}")]
    Read { path: PathBuf, error: ParquetError },
    #[error(transparent)]
    Row(#[from] UnreadRow),
}

/// Reads a table in `folder`. Fails if a column holds nulls.
pub fn read(folder: &Path, name: &str) -> Result<Table, TableError> {
    let path = folder.join(name).with_extension("parquet");
    let file = File::open(&path).map_err(|error| TableError::Open { path: path.clone(), error })?;
    match columns(file) {
        Ok((rows, columns)) => Ok(Table { path, rows, columns }),
        Err(error) => Err(TableError::Read { path, error }),
    }
}

/// The number of rows, and the columns with their names.
fn columns(file: File) -> Result<(usize, Vec<(String, Column)>), ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let metadata = reader.metadata().file_metadata();
    let schema = metadata.schema_descr_ptr();
    let column = |index: usize| {
        let column = match schema.column(index).physical_type() {
            Type::BYTE_ARRAY => Column::Texts(texts(&reader, index)?),
            _ => Column::Numbers(numbers(&reader, index)?),
        };
        Ok((schema.column(index).name().to_owned(), column))
    };
    let columns: Result<Vec<_>, ParquetError> = (0..schema.num_columns()).map(column).collect();
    Ok((usize::try_from(metadata.num_rows()).unwrap_or(0), columns?))
}

type Reader = SerializedFileReader<File>;

fn numbers(reader: &Reader, index: usize) -> Result<Vec<f64>, ParquetError> {
    let mut all = Vec::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let rows = group.metadata().num_rows() as usize;
        match group.get_column_reader(index)? {
            ColumnReader::Int32ColumnReader(column) => all.extend(values(column, rows)?.map(f64::from)),
            ColumnReader::Int64ColumnReader(column) => {
                all.extend(values(column, rows)?.map(|value| value as f64));
            }
            ColumnReader::FloatColumnReader(column) => all.extend(values(column, rows)?.map(f64::from)),
            ColumnReader::DoubleColumnReader(column) => all.extend(values(column, rows)?),
            _ => return Err(ParquetError::NYI("a column that is neither number nor text".into())),
        }
    }
    Ok(all)
}

fn texts(reader: &Reader, index: usize) -> Result<Texts, ParquetError> {
    let Texts { mut names, mut codes } = Texts::default();
    let mut seen: HashMap<Vec<u8>, u16> = HashMap::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let rows = group.metadata().num_rows() as usize;
        let ColumnReader::ByteArrayColumnReader(column) = group.get_column_reader(index)? else {
            return Err(ParquetError::General("a text column that is not bytes".into()));
        };
        for value in values(column, rows)? {
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
            codes.push(code);
        }
    }
    Ok(Texts { names, codes })
}

/// The values of a column in a row group; a null leaves a row without a value.
fn values<T: DataType>(
    mut column: ColumnReaderImpl<T>,
    rows: usize,
) -> Result<impl Iterator<Item = T::T>, ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::with_capacity(rows));
    column.read_records(rows, Some(&mut levels), None, &mut values)?;
    if values.len() == rows {
        return Ok(values.into_iter());
    }
    let text = format!("{} values in {rows} rows: nulls are not expected", values.len());
    Err(ParquetError::General(text))
}
