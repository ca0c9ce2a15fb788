//! From text to a value.

use super::{Json, MAX_BYTES, Object};

/// Deepest nesting read: a hostile text must not exhaust the stack.
const MAX_DEPTH: u32 = 128;

/// Decimal digits that a `u64` holds whatever they are.
const DIGITS: u32 = 19;

/// Reads one object, or says in a sentence why `text` holds none.
pub fn parse(text: &str) -> Result<Object, String> {
    if text.len() > MAX_BYTES {
        let (size, most) = (text.len() / 1024, MAX_BYTES / 1024);
        return Err(format!("the text is {size} KiB: at most {most} KiB are read"));
    }
    object(text)
}

/// The same of any length.
pub fn object(text: &str) -> Result<Object, String> {
    // Byte-order mark, as some editors write it.
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err("the text is empty: an object in braces is right".into());
    }
    let mut parser = Parser { bytes: text.as_bytes(), at: 0 };
    match parser.document() {
        Ok(Json::Object(object)) => Ok(object),
        Ok(other) => Err(format!("this is {}: an object in braces is right", other.kind())),
        Err(fault) => {
            let (line, column) = parser.place();
            Err(format!("not JSON: {fault} at line {line} column {column}"))
        }
    }
}

type Read<T> = Result<T, &'static str>;

struct Parser<'a> {
    /// UTF-8.
    bytes: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn document(&mut self) -> Read<Json> {
        let value = self.value(MAX_DEPTH)?;
        match self.next() {
            None => Ok(value),
            Some(_) => Err("trailing characters"),
        }
    }

    /// Line and column of the next byte, from 1.
    fn place(&self) -> (usize, usize) {
        let before = self.bytes.get(..self.at).unwrap_or(self.bytes);
        let lines = before.split(|byte| *byte == b'\n');
        lines.fold((0, 0), |(line, _), text| (line + 1, text.len() + 1))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The next byte that is no space, not yet taken.
    fn next(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    /// Takes `word` if it stands here.
    fn takes(&mut self, word: &str) -> bool {
        let here = self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes()));
        if here {
            self.at += word.len();
        }
        here
    }

    fn value(&mut self, depth: u32) -> Read<Json> {
        let Some(depth) = depth.checked_sub(1) else { return Err("recursion limit exceeded") };
        match self.next() {
            None => return Err("EOF while parsing a value"),
            Some(b'{') => return self.object(depth),
            Some(b'[') => return self.list(depth),
            Some(b'"') => return self.text().map(Json::Text),
            Some(_) => {}
        }
        for (word, value) in [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))]
        {
            if self.takes(word) {
                return Ok(value);
            }
        }
        // Python's `json` writes these, which JSON does not know. As text, a field holding one is refused by
        // its name and others do not matter.
        for word in ["NaN", "Infinity", "-Infinity"] {
            if self.takes(word) {
                return Ok(Json::Text(word.into()));
            }
        }
        self.number()
    }

    fn object(&mut self, depth: u32) -> Read<Json> {
        let mut object = Object::default();
        while self.goes_on(object.pairs.is_empty(), b'}')? {
            if self.next() != Some(b'"') {
                return Err("key must be a string");
            }
            let key = self.text()?;
            if self.next() != Some(b':') {
                return Err("expected `:`");
            }
            self.at += 1;
            let value = self.value(depth)?;
            object.insert(key, value);
        }
        Ok(Json::Object(object))
    }

    fn list(&mut self, depth: u32) -> Read<Json> {
        let mut items = Vec::new();
        while self.goes_on(items.is_empty(), b']')? {
            items.push(self.value(depth)?);
        }
        Ok(Json::List(items))
    }

    /// Past the opening bracket or a comma, or past the closing bracket: whether an entry follows.
    fn goes_on(&mut self, first: bool, close: u8) -> Read<bool> {
        if first {
            self.at += 1;
        }
        match self.next() {
            None => Err("EOF while parsing"),
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) if first => Ok(true),
            Some(b',') => {
                self.at += 1;
                if self.next() == Some(close) { Err("trailing comma") } else { Ok(true) }
            }
            Some(_) => Err("expected a comma or the end"),
        }
    }

    fn text(&mut self) -> Read<String> {
        const END: &str = "EOF while parsing a string";
        let mut text = Vec::new();
        self.at += 1;
        loop {
            let byte = self.peek().ok_or(END)?;
            match byte {
                b'"' => break,
                b'\\' => {
                    self.at += 1;
                    let escaped = self.escape(self.peek().ok_or(END)?)?;
                    text.extend_from_slice(escaped.encode_utf8(&mut [0; 4]).as_bytes());
                }
                0..0x20 => return Err("control character in a string"),
                _ => text.push(byte),
            }
            self.at += 1;
        }
        self.at += 1;
        String::from_utf8(text).map_err(|_| "no UTF-8")
    }

    /// The character of an escape; the last of its bytes is left to be taken.
    fn escape(&mut self, kind: u8) -> Read<char> {
        Ok(match kind {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' | b'/' => char::from(kind),
            b'u' => {
                let mut code = self.hex()?;
                if (0xd800..0xdc00).contains(&code) {
                    self.at += 1;
                    if !self.takes("\\u") {
                        return Err("lone surrogate");
                    }
                    self.at -= 1;
                    code = 0x10000 + ((code & 0x3ff) << 10) + (self.hex()? & 0x3ff);
                }
                char::from_u32(code).ok_or("lone surrogate")?
            }
            _ => return Err("invalid escape"),
        })
    }

    /// The four digits after this byte.
    fn hex(&mut self) -> Read<u32> {
        let mut code = 0;
        for _ in 0..4 {
            self.at += 1;
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or("invalid escape")?;
        }
        Ok(code)
    }

    /// To 19 digits: the nearest double for counts and for decimals of up to 15 digits, within one part in
    /// 10^15 for others.
    fn number(&mut self) -> Read<Json> {
        let negative = self.takes("-");
        let (mut value, mut taken, mut exponent) = (0_u64, 0, 0_i32);
        let mut digits = 0;
        let mut fraction = false;
        loop {
            match self.peek() {
                Some(byte @ b'0'..=b'9') => {
                    digits += 1;
                    if taken < DIGITS {
                        value = value * 10 + u64::from(byte - b'0');
                        taken += u32::from(value > 0);
                        exponent -= i32::from(fraction);
                    } else {
                        exponent += i32::from(!fraction);
                    }
                }
                Some(b'.') if digits > 0 && !fraction => fraction = true,
                _ => break,
            }
            self.at += 1;
        }
        if digits == 0 {
            return Err("expected value");
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            let down = self.takes("-");
            if !down {
                self.takes("+");
            }
            let mut power = 0_i32;
            while let Some(byte @ b'0'..=b'9') = self.peek() {
                power = power.saturating_mul(10).saturating_add(i32::from(byte - b'0'));
                self.at += 1;
            }
            exponent = exponent.saturating_add(if down { -power } else { power });
        }
        let scale = 10f64.powi(exponent.saturating_abs());
        let size = if exponent < 0 { value as f64 / scale } else { value as f64 * scale };
        Ok(Json::Number(if negative { -size } else { size }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> f64 {
        parse(&format!("{{\"a\":{text}}}")).expect(text).number("a").expect(text)
    }

    #[test]
    fn numbers_are_the_nearest_doubles() {
        for text in ["0", "-1", "151936", "1e6", "1E-06", "2.5", "1000000.0", "0.001", "18446744073709551615"]
        {
            assert_eq!(number(text), text.parse::<f64>().expect(text), "{text}");
        }
        assert_eq!(number("1e999"), f64::INFINITY);
        assert_eq!(number("1e-999"), 0.0);
        assert!((number("3.14159265358979323846264338") - std::f64::consts::PI).abs() < 1e-15);
    }

    #[test]
    fn texts_are_unescaped() {
        let object = parse(r#"{"a":"\u00e9\ud83d\ude00\n\"\\ é"}"#).expect("JSON");
        assert_eq!(object.text("a"), Some("é😀\n\"\\ é"));
        for text in [r#"{"a":"\ud83d"}"#, r#"{"a":"\x"}"#, "{\"a\":\"\n\"}", r#"{"a":"\u12"}"#] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_placed() {
        let fault = |text: &str| parse(text).expect_err(text);
        assert_eq!(fault("{\"a\" 1}"), "not JSON: expected `:` at line 1 column 6");
        assert_eq!(fault("{\"a\": 1} x"), "not JSON: trailing characters at line 1 column 10");
        assert_eq!(fault("{\n\"a\": [1 2]}"), "not JSON: expected a comma or the end at line 2 column 9");
        assert_eq!(fault("{a: 1}"), "not JSON: key must be a string at line 1 column 2");
    }
}
