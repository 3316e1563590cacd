//! Whose row it is: ids of any kind become numbers 0, 1, 2, ... as they first appear.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::cell::Cell;

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

/// What ids are compared by. One id has one key in whatever form it comes: a column is read in pieces, and cells that are missing, other
/// people's among them, decide in which form a reader hands a piece over.
enum Key<'i> {
    Whole(i64),
    Text(Cow<'i, [u8]>),
}

impl<'i> Key<'i> {
    fn of(id: Cell<'i>) -> Self {
        let text: Cow<'i, [u8]> = match id {
            Cell::Integer(integer) => return Self::Whole(integer),
            Cell::Truth(truth) => return Self::Whole(i64::from(truth)),
            Cell::Missing => Cow::Borrowed(b""),
            Cell::Text(text) => Cow::Borrowed(text),
            Cell::Number(number) if number.fract() == 0.0 && number.abs() < TWO_TO_63 => {
                return Self::Whole(number as i64);
            }
            // To its last digit: without `.0` those that a double does not need become zeros.
            Cell::Number(number) if number.fract() == 0.0 => Cow::Owned(format!("{number:.0}").into_bytes()),
            Cell::Number(number) => Cow::Owned(number.to_string().into_bytes()),
        };
        canonical(&text).map_or(Self::Text(text), Self::Whole)
    }
}

/// Smaller whole numbers are those of an `i64`, but for its least.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

/// The whole number a text spells: `07` and `7` are two ids, and `7.0` is how data frames write a 7 beside a missing cell.
fn canonical(text: &[u8]) -> Option<i64> {
    let whole = text.strip_suffix(b".0").unwrap_or(text);
    match whole.strip_prefix(b"-").unwrap_or(whole) {
        [b'0'] if whole.len() == 1 => Some(0),
        [b'1'..=b'9', ..] => std::str::from_utf8(whole).ok()?.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ids_share_a_number_and_others_do_not() {
        let mut units = Numbering::default();
        let ids: [Cell<'_>; 9] = [
            Cell::Text(b"7"),
            Cell::Text(b"07"),
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
        // What is no other spelling of a whole number stays as it is.
        let others: [&[u8]; 9] =
            [b"", b"-", b"-0", b"+7", b"-07", b"7.", b".0", b"9223372036854775808", b"7.5"];
        for text in others {
            assert_eq!(bytes(Cell::Text(text))[1..], *text);
        }
        assert_eq!(bytes(Cell::Number(2f64.powi(63))), bytes(Cell::Text(b"9223372036854775808")));
        assert_eq!(bytes(Cell::Number(0.5)), bytes(Cell::Text(b"0.5")));
    }
}
