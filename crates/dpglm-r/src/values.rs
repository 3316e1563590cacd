//! R's lists as JSON and back. The order of names is kept: that of columns matters.

use dpglm_workflow::Failure;
use extendr_api::prelude::*;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// What R asks for, read into a type of the library's or one of these modules.
pub fn read<T: DeserializeOwned>(robj: &Robj) -> std::result::Result<T, Failure> {
    let text = json(robj)?;
    serde_json::from_str(&text).map_err(|error| Failure::Usage(without_place(&error.to_string()).into()))
}

/// A parser's message without the line and column of a text that the user never saw.
pub fn without_place(message: &str) -> String {
    message.rsplit_once(" at line ").map_or(message, |(what, _)| what).to_owned()
}

/// A text of R's, if it is UTF-8: R does not say that it is, and bytes that are not would be no `str`.
pub fn utf8(text: &str) -> std::result::Result<&str, Failure> {
    std::str::from_utf8(text.as_bytes()).map_err(|_| {
        Failure::Usage("a text is not in UTF-8: declare its encoding, and convert it with enc2utf8()".into())
    })
}

/// One text, if there is one.
pub fn optional_text(robj: &Robj) -> std::result::Result<Option<&str>, Failure> {
    robj.as_str().map(utf8).transpose()
}

/// All texts.
pub fn texts(robj: &Robj) -> std::result::Result<Vec<String>, Failure> {
    let all = robj.as_str_vector().unwrap_or_default();
    all.into_iter().map(|text| utf8(text).map(str::to_owned)).collect()
}

/// An R value as JSON: lists with names are objects, those without are arrays; a vector of length one is its element, unless `I()` was
/// said of it.
pub fn json(robj: &Robj) -> std::result::Result<String, Failure> {
    let mut out = String::new();
    write(robj, &mut out)?;
    Ok(out)
}

fn write(robj: &Robj, out: &mut String) -> std::result::Result<(), Failure> {
    if robj.is_null() {
        out.push_str("null");
        return Ok(());
    }
    if let Some(list) = robj.as_list() {
        let is_object = robj.names().is_some();
        out.push(if is_object { '{' } else { '[' });
        for (place, (name, value)) in list.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            if is_object {
                text(utf8(name)?, out);
                out.push(':');
            }
            write(&value, out)?;
        }
        out.push(if is_object { '}' } else { ']' });
        return Ok(());
    }
    let elements: Vec<String> = if let Some(numbers) = robj.as_real_slice() {
        numbers.iter().map(|x| number(*x)).collect()
    } else if let Some(integers) = robj.as_integer_slice() {
        integers.iter().map(|i| if *i == i32::MIN { "null".into() } else { i.to_string() }).collect()
    } else if let Some(truths) = robj.as_logical_slice() {
        let truth = |t: &Rbool| if t.is_na() { "null".into() } else { t.is_true().to_string() };
        truths.iter().map(truth).collect()
    } else if let Some(texts) = robj.as_str_vector() {
        let quoted = |t: &&str| {
            let mut out = String::new();
            text(utf8(t)?, &mut out);
            Ok(out)
        };
        texts.iter().map(quoted).collect::<std::result::Result<_, Failure>>()?
    } else {
        return Err(Failure::Usage(
            "a value is neither a number, a text, a truth value nor a list of these".into(),
        ));
    };
    match elements.as_slice() {
        [one] if !robj.inherits("AsIs") => out.push_str(one),
        all => {
            out.push('[');
            out.push_str(&all.join(","));
            out.push(']');
        }
    }
    Ok(())
}

fn text(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// Whole numbers are written as such, and what JSON cannot write is the text that [`Number`] reads.
fn number(x: f64) -> String {
    // Beyond this not every whole number is one of R's.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if x.is_finite() {
        return if x.fract() == 0.0 && x.abs() < EXACT {
            format!("{x:.0}")
        } else {
            serde_json::Value::from(x).to_string()
        };
    }
    format!("\"{x}\"")
}

/// A number that may be infinite.
#[derive(Debug, Clone, Copy)]
pub struct Number(pub f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(f64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(x) => Ok(Self(x)),
            Written::Text(text) => text.parse().map(Self).map_err(serde::de::Error::custom),
        }
    }
}

/// JSON as R's values: objects and arrays of mixed kinds are lists, arrays of one kind vectors.
pub fn parsed(text: &str) -> std::result::Result<Robj, Failure> {
    let made: std::result::Result<Made, _> = serde_json::from_str(text);
    made.map(|made| made.0).map_err(|error| Failure::Failed(error.to_string().into()))
}

struct Made(Robj);

impl<'de> Deserialize<'de> for Made {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(Maker).map(Self)
    }
}

struct Maker;

impl<'de> Visitor<'de> for Maker {
    type Value = Robj;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> std::result::Result<Robj, E> {
        Ok(().into())
    }

    fn visit_bool<E>(self, truth: bool) -> std::result::Result<Robj, E> {
        Ok(truth.into())
    }

    fn visit_u64<E>(self, number: u64) -> std::result::Result<Robj, E> {
        Ok((number as f64).into())
    }

    fn visit_i64<E>(self, number: i64) -> std::result::Result<Robj, E> {
        Ok((number as f64).into())
    }

    fn visit_f64<E>(self, number: f64) -> std::result::Result<Robj, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Robj, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Robj, A::Error> {
        let mut all = Vec::new();
        while let Some(Made(one)) = seq.next_element()? {
            all.push(one);
        }
        let scalars = !all.is_empty() && all.iter().all(|one| one.len() == 1 && !one.is_list());
        if scalars && all.iter().all(Robj::is_real) {
            return Ok(all.iter().filter_map(Robj::as_real).collect::<Vec<f64>>().into());
        }
        if scalars && all.iter().all(Robj::is_string) {
            return Ok(all.iter().filter_map(Robj::as_str).collect::<Vec<&str>>().into());
        }
        if scalars && all.iter().all(Robj::is_logical) {
            return Ok(all.iter().filter_map(Robj::as_bool).collect::<Vec<bool>>().into());
        }
        Ok(List::from_values(all).into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Robj, A::Error> {
        let (mut names, mut values) = (Vec::<String>::new(), Vec::new());
        while let Some((name, Made(value))) = map.next_entry()? {
            names.push(name);
            values.push(value);
        }
        List::from_names_and_values(names, values).map(Robj::from).map_err(serde::de::Error::custom)
    }
}
