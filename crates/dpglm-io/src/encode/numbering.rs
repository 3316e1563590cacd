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

/// What ids are compared by.
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
            Cell::Number(number) => Cow::Owned(number.to_string().into_bytes()),
        };
        canonical(&text).map_or(Self::Text(text), Self::Whole)
    }
}

/// The whole number a text spells, if it is the only spelling: `07` and `7` are two ids.
fn canonical(text: &[u8]) -> Option<i64> {
    let is_canonical = match text {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.len() < 18 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    is_canonical.then(|| text.iter().fold(0, |n, b| n * 10 + i64::from(b - b'0')))
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
}
