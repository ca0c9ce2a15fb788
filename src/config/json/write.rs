//! Records as JSON.

use crate::config::record::{Record, Walker};
use crate::units::decimal;

/// The record as JSON without spaces; empty lists and what is not there are left out of objects.
pub fn write(record: &mut dyn Record) -> String {
    let mut writer = Writer { out: String::new(), frames: Vec::new() };
    record.walk(&mut writer);
    writer.out
}

/// What is being written: the names that are left of an object, and its closing bracket.
struct Frame {
    names: &'static [&'static str],
    close: &'static str,
    empty: bool,
}

struct Writer {
    out: String,
    /// Outermost first.
    frames: Vec<Frame>,
}

impl Writer {
    /// What stands before a value: a comma, and its name in an object.
    fn lead(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        if !std::mem::replace(&mut frame.empty, false) {
            self.out.push(',');
        }
        if let [name, rest @ ..] = frame.names {
            frame.names = rest;
            self.quote(name);
            self.out.push(':');
        }
    }

    fn plain(&mut self, text: &str) {
        self.lead();
        self.out += text;
    }

    fn open(&mut self, open: &str, close: &'static str, names: &'static [&'static str]) {
        self.plain(open);
        self.frames.push(Frame { names, close, empty: true });
    }

    fn quote(&mut self, text: &str) {
        self.out.push('"');
        for character in text.chars() {
            match character {
                '"' | '\\' => self.out.extend(['\\', character]),
                '\n' => self.out += "\\n",
                '\0'..' ' => self.out += &format!("\\u{:04x}", u32::from(character)),
                _ => self.out.push(character),
            }
        }
        self.out.push('"');
    }
}

impl Walker for Writer {
    fn object(&mut self, fields: &'static [&'static str]) {
        self.open("{", "}", fields);
    }

    fn variant(&mut self, chosen: &mut usize, names: &'static [&'static str]) {
        self.open("{", "}", names.get(*chosen..).unwrap_or_default());
    }

    fn list(&mut self, length: &mut usize) {
        match self.frames.last_mut() {
            Some(Frame { names: names @ [_, ..], .. }) if *length == 0 => {
                *names = &names[1..];
                self.frames.push(Frame { names: &[], close: "", empty: true });
            }
            _ => self.open("[", "]", &[]),
        }
    }

    fn map(&mut self, _: &mut usize) {
        self.open("{", "}", &[]);
    }

    fn key(&mut self, key: &mut String) {
        self.lead();
        self.quote(key);
        self.out.push(':');
        if let Some(frame) = self.frames.last_mut() {
            frame.empty = true;
        }
    }

    fn pair(&mut self, _: &'static str) {
        self.open("[", "]", &[]);
    }

    fn end(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.out += frame.close;
        }
    }

    fn option(&mut self, there: &mut bool) {
        if *there {
            return;
        }
        match self.frames.last_mut() {
            Some(Frame { names: names @ [_, ..], .. }) => *names = &names[1..],
            _ => self.plain("null"),
        }
    }

    fn text(&mut self, text: &mut String) {
        self.lead();
        self.quote(text);
    }

    fn number(&mut self, number: &mut f64) {
        self.plain(&decimal(*number));
    }

    fn whole(&mut self, number: &mut u32) {
        self.plain(&number.to_string());
    }

    fn flag(&mut self, flag: &mut bool) {
        self.plain(if *flag { "true" } else { "false" });
    }

    fn name(&mut self, chosen: &mut usize, names: &'static [&'static str]) {
        self.lead();
        self.quote(names.get(*chosen).copied().unwrap_or_default());
    }

    fn skip(&mut self) {
        self.plain("null");
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use crate::config::Model;
    use crate::config::catalog::catalog;

    #[test]
    fn models_are_written_as_serde_would_and_read_again() {
        for model in &catalog().models.models {
            let mut model = model.clone();
            model.name += " \"\\\n\u{1}é";
            let text = write(&mut model);
            assert_eq!(text, serde_json::to_string(&model).expect("serialises"));
            assert_eq!(read::<Model>(&text), Ok(model));
        }
    }
}
