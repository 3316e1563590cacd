//! One cell, and the public rule for cells that are not what the schema says.
//!
//! Nothing here fails: a bad cell gets a value that depends on the declaration only, and the fault is reported to
//! the caller, who decides by public settings what else happens (the row's weight, strict mode).
//!
//! A cell means what it spells in whatever form it comes. Programs that guess a column's type from its cells hand over numbers or truth values
//! where every cell spells one, and texts where one does not: that one cell must not change what the others mean.

use crate::bounds::Bounds;
use crate::levels::Levels;

/// A cell as a file gives it. Text is trimmed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell<'a> {
    Missing,
    Text(&'a [u8]),
    Number(f64),
    Integer(i64),
    Truth(bool),
}

/// Why a cell is not what the schema says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Empty, a declared missing-value mark, NaN, infinite, or not a number.
    Missing,
    /// A number outside the declared bounds.
    OutOfBounds,
    /// Text that is no declared level.
    Undeclared,
}

impl Fault {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Missing => "the cell is missing, not a number, NaN or infinite",
            Self::OutOfBounds => "the number lies outside the declared bounds",
            Self::Undeclared => "the value is not a declared level",
        }
    }
}

/// A numeric column's public facts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Numeric {
    /// The declared bounds.
    pub bounds: Bounds,
    /// The value that stands for a missing one.
    pub fill: f64,
    /// True if values are whole numbers.
    pub whole: bool,
    /// What need not be told apart, where bounds are a magnitude and tighter ones are found privately.
    pub resolution: Option<f64>,
}

impl Numeric {
    /// The cell's value by the public rule: missing cells are filled, others clamped to the bounds.
    #[inline]
    pub(crate) fn decode(&self, cell: Cell<'_>) -> (f64, Option<Fault>) {
        let number = match cell {
            Cell::Number(number) => number,
            Cell::Integer(integer) => integer as f64,
            Cell::Text(text) => spelled(text),
            Cell::Truth(truth) => f64::from(u8::from(truth)),
            Cell::Missing => f64::NAN,
        };
        if !number.is_finite() {
            return (self.fill, Some(Fault::Missing));
        }
        let number = if self.whole { rounded(number) } else { number };
        if self.bounds.contains(number) {
            (number, None)
        } else {
            (self.bounds.clamp(number), Some(Fault::OutOfBounds))
        }
    }
}

/// Kept out of line: inlined, the compiler would round every real number too and throw the result away.
#[inline(never)]
fn rounded(number: f64) -> f64 {
    number.round()
}

/// A categorical column's public facts.
#[derive(Debug, Clone, PartialEq)]
pub struct Categorical {
    /// The declared levels.
    pub levels: Levels,
    /// The level that gets no column of its own.
    pub reference: usize,
    /// The level that stands for a missing one.
    pub fill: usize,
}

impl Categorical {
    /// The cell's level by the public rule. A declared level wins over a missing-value mark of the same spelling;
    /// an undeclared one becomes `undeclared`.
    #[inline]
    pub(crate) fn decode(&self, cell: Cell<'_>, marks: &Marks, undeclared: usize) -> (usize, Option<Fault>) {
        if let Some(level) = self.levels.of(cell) {
            return (level, None);
        }
        if marks.cover(cell) {
            (self.fill, Some(Fault::Missing))
        } else {
            (undeclared, Some(Fault::Undeclared))
        }
    }
}

/// What stands for a missing cell of a category, or for a missing id.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    texts: Vec<Vec<u8>>,
    numbers: Vec<f64>,
}

impl Marks {
    pub(crate) fn new(texts: Vec<Vec<u8>>) -> Self {
        let numbers = texts.iter().map(|text| spelled(text)).filter(|number| number.is_finite()).collect();
        Self { texts, numbers }
    }

    /// Whether a cell is missing: it is, or is one of the marks, or a number that is not finite.
    pub(crate) fn cover(&self, cell: Cell<'_>) -> bool {
        let number = match cell {
            Cell::Missing => return true,
            Cell::Text(text) if self.texts.iter().any(|mark| mark == text) => return true,
            Cell::Text(text) => match spelled(text) {
                number if number.is_nan() => return spells_nan(text),
                number => number,
            },
            Cell::Number(number) => number,
            Cell::Integer(integer) => integer as f64,
            Cell::Truth(truth) => f64::from(u8::from(truth)),
        };
        !number.is_finite() || self.numbers.contains(&number)
    }
}

/// Powers of ten that double precision holds exactly.
const EXACT_POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The number a trimmed text spells, or NaN.
///
/// Up to 15 digits with at most one point are an exact integer over an exact power of ten, so one division rounds
/// correctly; everything else takes the standard library's parser.
#[inline]
pub(crate) fn parse(text: &[u8]) -> f64 {
    let (negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    if digits.len() <= 16 {
        let (mut mantissa, mut count, mut point) = (0_u64, 0_usize, None);
        let mut plain = true;
        for &byte in digits {
            match byte {
                b'0'..=b'9' => {
                    mantissa = mantissa * 10 + u64::from(byte - b'0');
                    count += 1;
                }
                b'.' if point.is_none() => point = Some(count),
                _ => {
                    plain = false;
                    break;
                }
            }
        }
        if plain && (1..=15).contains(&count) {
            // At most 15 digits: below 2^53.
            let whole = mantissa as f64;
            let value = match point {
                Some(at) => whole / EXACT_POWERS[count - at],
                None => whole,
            };
            return if negative { -value } else { value };
        }
    }
    std::str::from_utf8(text).ok().and_then(|t| t.parse().ok()).unwrap_or(f64::NAN)
}

/// The number or truth value (1 or 0) a trimmed text spells, or NaN.
#[inline]
pub(crate) fn spelled(text: &[u8]) -> f64 {
    let number = parse(text);
    if number.is_nan() { truth(text).map_or(number, |truth| f64::from(u8::from(truth))) } else { number }
}

/// The truth value that a text spells to pandas, Arrow or R.
pub(crate) fn truth(text: &[u8]) -> Option<bool> {
    match text {
        b"True" | b"TRUE" | b"true" | b"T" => Some(true),
        b"False" | b"FALSE" | b"false" | b"F" => Some(false),
        _ => None,
    }
}

fn spells_nan(text: &[u8]) -> bool {
    text.strip_prefix(b"-").unwrap_or(text).eq_ignore_ascii_case(b"nan")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_and_everything_else_is_not() {
        for (text, value) in [
            ("0", 0.0),
            ("-17", -17.0),
            ("3.25", 3.25),
            (".5", 0.5),
            ("7.", 7.0),
            ("1e3", 1000.0),
            ("+4", 4.0),
            ("123456789012345678", 123456789012345678.0),
        ] {
            assert_eq!(parse(text.as_bytes()), value, "{text}");
        }
        for text in ["", "-", ".", "abc", "1.2.3", "12a", "0x10", "1,5", "\u{661}", "nan"] {
            assert!(parse(text.as_bytes()).is_nan(), "{text}");
        }
        assert!(parse(b"1e999").is_infinite() && parse(&[0xff, 0x31]).is_nan());
    }

    /// What a reader may take for a number or a truth value is the same before and after.
    #[test]
    fn a_cell_is_the_same_number_in_every_form() {
        let numeric = |low, high| Numeric {
            bounds: Bounds::new(low, high).unwrap(),
            fill: high,
            whole: false,
            resolution: None,
        };
        for (texts, typed) in [
            (&["1", "01", "+1", "1.0", "1e0", "True", "TRUE", "true", "T"][..], Cell::Truth(true)),
            (&["0", "-0", "0.00", "0E7", "False", "FALSE", "false", "F"], Cell::Truth(false)),
            (&["7", "007", "+7.00", "7.", "0.7e1"], Cell::Integer(7)),
            (&["inf", "-Infinity", "1e999", "NaN", "-nan", ""], Cell::Missing),
        ] {
            for numeric in [numeric(0.0, 0.5), numeric(-3.0, 9.0)] {
                let expected = numeric.decode(typed);
                for text in texts {
                    assert_eq!(numeric.decode(Cell::Text(text.as_bytes())), expected, "{text}");
                }
            }
        }
    }

    #[test]
    fn marks_hold_in_every_form() {
        let marks = Marks::new(["", "NA", "-9", "0"].map(|mark| mark.as_bytes().to_vec()).to_vec());
        for cell in
            [Cell::Integer(-9), Cell::Number(-9.0), Cell::Text(b"-9.0"), Cell::Text(b"-9"), Cell::Text(b"NA")]
        {
            assert!(marks.cover(cell), "{cell:?}");
        }
        for cell in [
            Cell::Truth(false),
            Cell::Text(b"False"),
            Cell::Integer(0),
            Cell::Text(b"inf"),
            Cell::Text(b"nan"),
        ] {
            assert!(marks.cover(cell), "{cell:?}");
        }
        for cell in [Cell::Integer(9), Cell::Text(b"9"), Cell::Text(b"n"), Cell::Truth(true)] {
            assert!(!marks.cover(cell), "{cell:?}");
        }
    }

    proptest! {
        #[test]
        fn the_short_way_equals_the_standard_parser(text in "-?[0-9]{0,10}\\.?[0-9]{0,8}") {
            let expected = text.parse::<f64>().unwrap_or(f64::NAN);
            prop_assert_eq!(parse(text.as_bytes()).to_bits(), expected.to_bits());
        }

        #[test]
        fn decoding_any_text_stays_within_the_bounds(text in proptest::collection::vec(any::<u8>(), 0..24)) {
            let numeric = Numeric { bounds: Bounds::new(-3.0, 8.0).unwrap(), fill: 1.0, whole: false, resolution: None };
            let (value, _) = numeric.decode(Cell::Text(&text));
            prop_assert!((-3.0..=8.0).contains(&value));
        }
    }
}
