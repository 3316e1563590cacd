//! JSON lines: one object per line, perhaps compressed. Their keys are the columns, and every line has all of them: else one
//! person's line would decide how many columns a table has.
//!
//! | what a line holds | what is done |
//! | --- | --- |
//! | null, or text of blanks | a missing cell |
//! | a list, an object, a number beyond double precision or text that is no Unicode | a missing cell |
//! | other keys than the first line; a key twice; no object | a fault of the file |
//! | nothing | the line is passed over |
//!
//! Values are taken apart one by one, as text: what one cell holds stops no run.

use dpglm::error::{Message, Parameter};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::value::RawValue;

use super::source::{self, Opening, Source};
use super::{ColumnPreview, InferredType, compressed};
use crate::cell::Cell;
use crate::encode::Builder;
use crate::error::{Error, Place, Result};

/// JSON lines.
pub(crate) struct JsonLines;

impl Source for JsonLines {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["jsonl", "ndjson"]
    }

    fn open(&self, path: &Path, _opening: &Opening<'_>) -> Result<Box<dyn source::Table>> {
        Ok(Box::new(Table::open(path)?))
    }

    fn preview(&self, path: &Path, has_header: Option<bool>) -> Result<(Vec<ColumnPreview>, Option<char>)> {
        if has_header.is_some() {
            return Err(Error::declaration(
                "header",
                format!("{} names its columns in every line", path.display()),
                Message::new("leave out {} and {}", &[&Parameter::Header, &Parameter::NoHeader]),
            ));
        }
        let looks = |value: &RawValue| match value.get().as_bytes() {
            b"true" | b"false" => InferredType::Truth,
            b"null" => InferredType::Empty,
            [b'-' | b'0'..=b'9', ..] => InferredType::Number,
            _ => InferredType::Text,
        };
        let first = Table::open(path)?.first;
        Ok((
            first.iter().map(|(name, v)| ColumnPreview { name: name.clone(), looks: looks(v) }).collect(),
            None,
        ))
    }
}

type Object = IndexMap<String, Box<RawValue>>;

/// An open file of which the first line has been read.
struct Table {
    path: PathBuf,
    input: BufReader<Box<dyn Read>>,
    line: u64,
    first: Object,
}

impl Table {
    fn open(path: &Path) -> Result<Self> {
        let input = BufReader::with_capacity(1 << 16, compressed::open(path)?);
        let mut table = Self { path: path.to_path_buf(), input, line: 0, first: Object::new() };
        table.first = table.advance()?.ok_or_else(|| {
            Error::file(path, Place::Whole, "the file is empty", "check that the export was complete")
        })?;
        Ok(table)
    }

    /// The next object; none at the end. A message repeats nothing of the line: it is somebody's row.
    fn advance(&mut self) -> Result<Option<Object>> {
        let mut text = Vec::new();
        loop {
            text.clear();
            self.line += 1;
            let read = self.input.read_until(b'\n', &mut text).map_err(|e| Error::read(&self.path, e))?;
            if read == 0 {
                return Ok(None);
            }
            if text.trim_ascii().is_empty() {
                continue;
            }
            let pairs = serde_json::from_str::<Pairs>(&String::from_utf8_lossy(&text)).map_err(|_| {
                self.fault("the line is no JSON object with each key once", "write one object per line")
            })?;
            return Ok(Some(pairs.0));
        }
    }

    fn fault(&self, problem: &str, remedy: &str) -> Error {
        Error::file(&self.path, Place::Line(self.line), problem, remedy)
    }
}

impl source::Table for Table {
    fn rows(&self) -> Option<u64> {
        None
    }

    fn columns(&self) -> Result<Vec<String>> {
        Ok(self.first.keys().cloned().collect())
    }

    fn read_into(mut self: Box<Self>, builder: &mut Builder) -> Result<()> {
        let names: Vec<String> = self.first.keys().cloned().collect();
        let read: Vec<&String> = (0..builder.slots()).map(|slot| &names[builder.position(slot)]).collect();
        let mut object = std::mem::take(&mut self.first);
        for row in 0.. {
            if object.len() != names.len() || !names.iter().all(|name| object.contains_key(name)) {
                return Err(self.fault(
                    "the keys are not those of the first line",
                    "write every key in every line, with null where there is no value",
                ));
            }
            builder.ensure_rows(row + 1)?;
            for (slot, name) in read.iter().enumerate() {
                let value = object.get(*name).map_or("null", |value| value.get());
                let text = match value.starts_with('"') {
                    true => serde_json::from_str::<String>(value).unwrap_or_default(),
                    false => String::new(),
                };
                let cell = match value.as_bytes() {
                    b"true" => Cell::Truth(true),
                    b"false" => Cell::Truth(false),
                    [b'"', ..] if !text.trim().is_empty() => Cell::Text(text.trim().as_bytes()),
                    [b'-' | b'0'..=b'9', ..] => match value.parse() {
                        Ok(whole) => Cell::Integer(whole),
                        Err(_) => Cell::Number(value.parse().unwrap_or(f64::NAN)),
                    },
                    _ => Cell::Missing,
                };
                builder.put(row, slot, cell)?;
            }
            match self.advance()? {
                Some(next) => object = next,
                None => break,
            }
        }
        Ok(())
    }
}

/// An object of which no key stands twice: JSON does not say which of them would count.
struct Pairs(Object);

impl<'de> serde::Deserialize<'de> for Pairs {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Pairs;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Pairs, A::Error> {
                let mut object = Object::new();
                while let Some((key, value)) = map.next_entry()? {
                    if object.insert(key, value).is_some() {
                        return Err(serde::de::Error::custom("a key stands twice"));
                    }
                }
                Ok(Pairs(object))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}
