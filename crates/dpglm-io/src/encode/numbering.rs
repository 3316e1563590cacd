//! Whose row it is: ids of any kind become numbers 0, 1, 2, ... as they first appear.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::cell::{Cell, spelled};

/// The numbers given so far. Whole numbers, the usual ids, are kept as such: a third of the memory of their text.
#[derive(Default)]
pub(crate) struct Numbering {
    /// Each row's number.
    pub of_row: Vec<u32>,
    whole: HashMap<i64, u32>,
    text: HashMap<Box<[u8]>, u32>,
}

impl Numbering {
    /// The number of different ids.
    pub(super) fn count(&self) -> usize {
        self.whole.len() + self.text.len()
    }

    /// The number of an id, a new one if it is new; `None` if numbers have run out. Rows without an id are all one
    /// unit's: its contribution is bounded like any other's.
    pub(super) fn number(&mut self, id: Cell<'_>) -> Option<u32> {
        let next = u32::try_from(self.count()).ok()?;
        match Key::of(id) {
            Key::Whole(integer) => Some(*self.whole.entry(integer).or_insert(next)),
            Key::Text(text) => {
                if let Some(number) = self.text.get(&*text) {
                    return Some(*number);
                }
                self.text.insert(text.into(), next);
                Some(next)
            }
        }
    }

    /// Writes an id so that two are equal bytes if they have one number.
    pub(crate) fn write(id: Cell<'_>, out: &mut Vec<u8>) {
        match Key::of(id) {
            Key::Whole(integer) => {
                out.push(b'w');
                out.extend(integer.to_be_bytes());
            }
            Key::Text(text) => {
                out.push(b't');
                out.extend_from_slice(&text);
            }
        }
    }
}

/// What ids are compared by. One id has one key in whatever form it comes: a column is read in pieces, and one cell, another person's, decides
/// in which form a reader hands a piece over. Every spelling of a number is the number, and every one of a truth value is 1 or 0: that two ids
/// become one unit breaks no promise, that one becomes two would.
enum Key<'i> {
    Whole(i64),
    Text(Cow<'i, [u8]>),
}

impl<'i> Key<'i> {
    fn of(id: Cell<'i>) -> Self {
        match id {
            Cell::Integer(integer) => Self::Whole(integer),
            Cell::Truth(truth) => Self::Whole(i64::from(truth)),
            Cell::Missing => Self::Text(Cow::Borrowed(b"")),
            Cell::Number(number) if number.fract() == 0.0 && number.abs() < TWO_TO_63 => {
                Self::Whole(number as i64)
            }
            // To its last digit: without `.0` those that a double does not need become zeros.
            Cell::Number(number) if number.fract() == 0.0 => {
                Self::of_digits(format!("{number:.0}").as_bytes())
            }
            Cell::Number(number) => Self::Text(Cow::Owned(number.to_string().into_bytes())),
            Cell::Text(text) => match whole_digits(text) {
                Some(digits) => Self::of_digits(digits),
                None => match spelled(text) {
                    number if number.is_finite() => Self::of(Cell::Number(number)),
                    _ => Self::Text(Cow::Borrowed(text)),
                },
            },
        }
    }

    /// Of a whole number's digits after its sign.
    fn of_digits(written: &[u8]) -> Self {
        let whole = std::str::from_utf8(written).ok().and_then(|digits| digits.parse().ok());
        whole.map_or_else(|| Self::Text(Cow::Owned(without_zeros(written))), Self::Whole)
    }
}

/// Smaller whole numbers are those of an `i64`, but for its least.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

/// The sign and digits of a whole number that a text writes out: ids may have more of them than a double holds.
fn whole_digits(text: &[u8]) -> Option<&[u8]> {
    let point = text.iter().position(|&byte| byte == b'.').unwrap_or(text.len());
    let (whole, fraction) = text.split_at(point);
    let digits = whole.strip_prefix(b"-").or_else(|| whole.strip_prefix(b"+")).unwrap_or(whole);
    let is_whole = digits.iter().all(u8::is_ascii_digit) && fraction.iter().skip(1).all(|&byte| byte == b'0');
    (is_whole && !digits.is_empty()).then_some(whole)
}

/// A whole number's digits without a plus and without zeros before them.
fn without_zeros(written: &[u8]) -> Vec<u8> {
    let is_negative = written.first() == Some(&b'-');
    let digits = written.iter().skip_while(|byte| matches!(byte, b'-' | b'+' | b'0'));
    is_negative.then_some(&b'-').into_iter().chain(digits).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ids_share_a_number_and_others_do_not() {
        let mut units = Numbering::default();
        let ids: [Cell<'_>; 9] = [
            Cell::Text(b"7"),
            Cell::Text(b"p07"),
            Cell::Text(b"ann"),
            Cell::Missing,
            Cell::Integer(7),
            Cell::Number(7.0),
            Cell::Text(b"99999999999999999999"),
            Cell::Text(b"ann"),
            Cell::Number(0.5),
        ];
        let found: Vec<u32> = ids.iter().map(|id| units.number(*id).unwrap()).collect();
        assert_eq!(found, [0, 1, 2, 3, 0, 0, 4, 2, 5]);
        assert_eq!(units.count(), 6);
    }

    /// In whatever form an id comes, alone or beside a missing cell, it is one person's.
    #[test]
    fn an_id_is_one_in_every_form() {
        let bytes = |cell: Cell<'_>| {
            let mut out = Vec::new();
            Numbering::write(cell, &mut out);
            out
        };
        for id in [0, 7, -7, 1 << 53, -(1 << 53), 1 << 62, i64::MIN / 2] {
            let (text, decimal) = (id.to_string(), format!("{id}.0"));
            let expected = bytes(Cell::Integer(id));
            assert_eq!(bytes(Cell::Number(id as f64)), expected, "{id}");
            assert_eq!(bytes(Cell::Text(text.as_bytes())), expected, "{id}");
            assert_eq!(bytes(Cell::Text(decimal.as_bytes())), expected, "{id}");
        }
        for id in [i64::MIN, -1_234_567_890_123_456_789, (1 << 53) + 1, i64::MAX] {
            assert_eq!(bytes(Cell::Text(id.to_string().as_bytes())), bytes(Cell::Integer(id)), "{id}");
        }
        assert_eq!(bytes(Cell::Number(-0.0)), bytes(Cell::Integer(0)));
        // Each row is one id.
        let spellings: [&[&str]; 7] = [
            &["1", "0000001", "+1", "1.", "1.00", "1e0", "10E-1", "True", "TRUE", "true", "T"],
            &["0", "-0", "000", "0.0", "0e5", "False", "FALSE", "false", "F"],
            &["-7", "-07", "-7.0", "-0.7e1"],
            &["100000", "1E5", "1e+05", "0100000.0"],
            &["0.5", ".5", "0.50", "5e-1"],
            &["9223372036854775808", "+09223372036854775808.0"],
            &["ann", "ann"],
        ];
        for forms in spellings {
            for text in forms {
                assert_eq!(
                    bytes(Cell::Text(text.as_bytes())),
                    bytes(Cell::Text(forms[0].as_bytes())),
                    "{text}"
                );
            }
        }
        for (truth, integer) in [(true, 1), (false, 0)] {
            assert_eq!(bytes(Cell::Truth(truth)), bytes(Cell::Integer(integer)));
        }
        // What spells no number stays as it is.
        let others: [&[u8]; 8] = [b"", b"-", b".-0", b"+", b"p07", b".", b"1e", b"1-7"];
        for text in others {
            assert_eq!(bytes(Cell::Text(text))[1..], *text);
        }
        assert_eq!(bytes(Cell::Number(2f64.powi(63))), bytes(Cell::Text(b"9223372036854775808")));
        assert_eq!(bytes(Cell::Number(0.5)), bytes(Cell::Text(b"0.5")));
    }
}
