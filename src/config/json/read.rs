//! Records from JSON. Reading always goes to the end; the first thing that does not fit is the fault.

use super::{Json, Object, parse};
use crate::config::issue::excerpt;
use crate::config::record::{Record, Walker};

static NULL: Json = Json::Null;

/// Reads one record, or says what does not fit.
pub fn read<T: Record + Default>(text: &str) -> Result<T, String> {
    of(&Json::Object(parse::object(text)?))
}

/// The same from JSON already parsed.
pub fn of<T: Record + Default>(json: &Json) -> Result<T, String> {
    let mut reader = Reader { frames: vec![Frame { values: vec![("", json)], at: 0 }], fault: None };
    let mut record = T::default();
    record.walk(&mut reader);
    match reader.fault {
        None => Ok(record),
        Some(text) => Err(text),
    }
}

/// Values that are read one after another; those of an object or a map have names.
struct Frame<'a> {
    values: Vec<(&'a str, &'a Json)>,
    at: usize,
}

struct Reader<'a> {
    /// Outermost first.
    frames: Vec<Frame<'a>>,
    fault: Option<String>,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> (&'a str, &'a Json) {
        let next = self.frames.last().and_then(|frame| frame.values.get(frame.at));
        next.copied().unwrap_or(("", &NULL))
    }

    fn next(&mut self) -> &'a Json {
        let (_, json) = self.peek();
        if let Some(frame) = self.frames.last_mut() {
            frame.at += 1;
        }
        json
    }

    /// Notes a fault of the value just taken, unless there was one before.
    fn say(&mut self, text: String) {
        if self.fault.is_some() {
            return;
        }
        let mut path = String::new();
        for frame in &self.frames {
            let taken = frame.at.checked_sub(1).and_then(|at| frame.values.get(at));
            if let Some((name, _)) = taken.filter(|(name, _)| !name.is_empty()) {
                path += name;
                path += ": ";
            }
        }
        self.fault = Some(path + &text);
    }

    fn wrong(&mut self, json: &Json, wanted: &str) {
        self.say(format!("{} stands where {wanted} is right", json.kind()));
    }

    fn enter(&mut self, values: Vec<(&'a str, &'a Json)>) {
        self.frames.push(Frame { values, at: 0 });
    }

    /// The next value, which should be an object.
    fn next_object(&mut self) -> Option<&'a Object> {
        match self.next() {
            Json::Object(object) => Some(object),
            other => {
                self.wrong(other, "an object");
                None
            }
        }
    }
}

impl Walker for Reader<'_> {
    /// Another field than these is a fault: a newer release may mean something by it.
    fn object(&mut self, fields: &'static [&'static str]) {
        let Some(object) = self.next_object() else { return self.enter(Vec::new()) };
        if let Some((name, _)) = object.pairs().find(|(name, _)| !fields.contains(name)) {
            self.say(format!("`{}` is no field here; {} are", excerpt(name), fields.join(", ")));
        }
        self.enter(fields.iter().map(|field| (*field, object.get(field).unwrap_or(&NULL))).collect());
    }

    fn variant(&mut self, chosen: &mut usize, names: &'static [&'static str]) {
        let Some(object) = self.next_object() else { return self.enter(Vec::new()) };
        let mut pairs = object.pairs();
        let entry = pairs.next().zip(pairs.next().is_none().then_some(()));
        let known = entry.and_then(|((name, value), ())| {
            names.iter().position(|known| *known == name).map(|index| (index, name, value))
        });
        let Some((index, name, value)) = known else {
            self.say(format!("an object with one of {} is right", names.join(", ")));
            return self.enter(Vec::new());
        };
        *chosen = index;
        self.enter(vec![(name, value)]);
    }

    fn list(&mut self, length: &mut usize) {
        let items = match self.next() {
            Json::List(items) => items.as_slice(),
            Json::Null => &[],
            other => {
                self.wrong(other, "a list");
                &[]
            }
        };
        *length = items.len();
        self.enter(items.iter().map(|item| ("", item)).collect());
    }

    fn map(&mut self, length: &mut usize) {
        let pairs: Vec<_> = self.next_object().into_iter().flat_map(Object::pairs).collect();
        *length = pairs.len();
        self.enter(pairs);
    }

    fn key(&mut self, key: &mut String) {
        *key = self.peek().0.to_owned();
    }

    fn pair(&mut self, wanted: &'static str) {
        let json = self.next();
        let values = match json {
            Json::List(items) if items.len() == 2 => items.iter().map(|item| ("", item)).collect(),
            other => {
                self.wrong(other, wanted);
                Vec::new()
            }
        };
        self.enter(values);
    }

    fn end(&mut self) {
        self.frames.pop();
    }

    fn option(&mut self, there: &mut bool) {
        *there = *self.peek().1 != Json::Null;
        if !*there {
            self.next();
        }
    }

    fn text(&mut self, text: &mut String) {
        match self.next() {
            Json::Text(given) => text.clone_from(given),
            other => self.wrong(other, "text"),
        }
    }

    fn number(&mut self, number: &mut f64) {
        match self.next() {
            Json::Number(given) => *number = *given,
            other => self.wrong(other, "a number"),
        }
    }

    fn whole(&mut self, number: &mut u32) {
        match self.next() {
            Json::Number(given) if given.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(given) => {
                *number = *given as u32;
            }
            other => self.wrong(other, "a whole number of at most 32 bits"),
        }
    }

    fn flag(&mut self, flag: &mut bool) {
        match self.next() {
            Json::Bool(given) => *flag = *given,
            other => self.wrong(other, "true or false"),
        }
    }

    fn name(&mut self, chosen: &mut usize, names: &'static [&'static str]) {
        let json = self.next();
        match json.as_text().and_then(|text| names.iter().position(|name| *name == text)) {
            Some(index) => *chosen = index,
            None => self.wrong(json, &format!("one of {}", names.join(", "))),
        }
    }

    fn skip(&mut self) {
        self.next();
    }
}
