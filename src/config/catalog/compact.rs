//! The catalogs as the page carries them: one text without names, addresses of sources and spaces.
//!
//! A line for each value, in the order in which the records name them: lists by their length first, enums by
//! the number of the variant, nothing where there is no value. `static/catalog/compact.txt` is written from
//! the JSON files by `catalog --compact`, and `tests/catalog.rs` holds the two together.

use crate::config::link::real;
use crate::config::record::{Record, Walker};
use crate::units::decimal;

/// Reads what [`write`] wrote. The text is part of the build: where it does not fit, values are empty.
pub fn read<T: Record + Default>(text: &str) -> T {
    let mut record = T::default();
    record.walk(&mut Reader { rest: text });
    record
}

pub fn write(record: &mut dyn Record) -> String {
    let mut writer = Writer { out: String::new() };
    record.walk(&mut writer);
    writer.out
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn line(&mut self) -> &'a str {
        let (line, rest) = self.rest.split_once('\n').unwrap_or_default();
        self.rest = rest;
        line
    }

    fn real(&mut self) -> f64 {
        real(self.line()).unwrap_or_default()
    }
}

impl Walker for Reader<'_> {
    fn object(&mut self, _: &'static [&'static str]) {}

    fn variant(&mut self, chosen: &mut usize, _: &'static [&'static str]) {
        *chosen = self.real() as usize;
    }

    fn list(&mut self, length: &mut usize) {
        *length = self.real() as usize;
    }

    fn map(&mut self, length: &mut usize) {
        self.list(length);
    }

    fn key(&mut self, key: &mut String) {
        self.text(key);
    }

    fn pair(&mut self, _: &'static str) {}

    fn end(&mut self) {}

    fn option(&mut self, there: &mut bool) {
        match self.rest.strip_prefix('\n') {
            Some(rest) => (self.rest, *there) = (rest, false),
            None => *there = true,
        }
    }

    fn text(&mut self, text: &mut String) {
        *text = self.line().to_owned();
    }

    fn number(&mut self, number: &mut f64) {
        *number = self.real();
    }

    fn whole(&mut self, number: &mut u32) {
        *number = self.real() as u32;
    }

    fn flag(&mut self, flag: &mut bool) {
        *flag = self.real() != 0.0;
    }

    fn name(&mut self, chosen: &mut usize, _: &'static [&'static str]) {
        *chosen = self.real() as usize;
    }

    fn skip(&mut self) {}
}

struct Writer {
    out: String,
}

impl Writer {
    fn line(&mut self, text: &str) {
        self.out += text;
        self.out.push('\n');
    }
}

impl Walker for Writer {
    fn object(&mut self, _: &'static [&'static str]) {}

    fn variant(&mut self, chosen: &mut usize, _: &'static [&'static str]) {
        self.line(&chosen.to_string());
    }

    fn list(&mut self, length: &mut usize) {
        self.line(&length.to_string());
    }

    fn map(&mut self, length: &mut usize) {
        self.list(length);
    }

    fn key(&mut self, key: &mut String) {
        self.line(key);
    }

    fn pair(&mut self, _: &'static str) {}

    fn end(&mut self) {}

    fn option(&mut self, there: &mut bool) {
        if !*there {
            self.line("");
        }
    }

    fn text(&mut self, text: &mut String) {
        self.line(text);
    }

    fn number(&mut self, number: &mut f64) {
        self.line(&decimal(*number));
    }

    fn whole(&mut self, number: &mut u32) {
        self.line(&number.to_string());
    }

    fn flag(&mut self, flag: &mut bool) {
        self.line(if *flag { "1" } else { "0" });
    }

    fn name(&mut self, chosen: &mut usize, _: &'static [&'static str]) {
        self.line(&chosen.to_string());
    }

    fn skip(&mut self) {}
}
