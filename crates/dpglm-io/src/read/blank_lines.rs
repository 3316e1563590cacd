//! A file of one column, in which a blank line is a missing cell.
//!
//! Parsers of delimited text pass over blank lines. With one column the row of a person without a value is one, and the number of
//! rows would depend on private cells. Here each blank line becomes a quoted empty cell. The line end after the last row ends that row.

use std::io::{Read, Result};

/// Where in a line the next byte stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// At its start.
    Start,
    /// After a carriage return, which a line feed may follow.
    Return,
    /// In a cell, or after its closing quote.
    Cell,
    /// In a quoted cell.
    Quoted,
    /// After a quote in a quoted cell: its end, or the first of two.
    Quote,
}

/// The text of a file of one column, with `""` on every blank line.
pub(super) struct BlankLines<R> {
    input: R,
    state: State,
    /// Bytes ready to be taken, and how many of them have been.
    ready: Vec<u8>,
    taken: usize,
}

impl<R: Read> BlankLines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, state: State::Start, ready: Vec::new(), taken: 0 }
    }

    fn push(&mut self, byte: u8) {
        let at_start = self.state == State::Start || (self.state == State::Return && byte != b'\n');
        if at_start && matches!(byte, b'\n' | b'\r') {
            self.ready.extend(b"\"\"");
        }
        self.state = match (self.state, byte) {
            (State::Quoted, b'"') => State::Quote,
            (State::Quoted, _) | (State::Quote, b'"') => State::Quoted,
            (_, b'\n') => State::Start,
            (_, b'\r') => State::Return,
            (State::Start | State::Return, b'"') => State::Quoted,
            _ => State::Cell,
        };
        self.ready.push(byte);
    }
}

impl<R: Read> Read for BlankLines<R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        if self.taken == self.ready.len() {
            (self.taken, self.ready) = (0, Vec::with_capacity(self.ready.capacity()));
            let mut chunk = [0; 1 << 13];
            let read = self.input.read(&mut chunk)?;
            chunk[..read].iter().for_each(|byte| self.push(*byte));
        }
        let count = out.len().min(self.ready.len() - self.taken);
        out[..count].copy_from_slice(&self.ready[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_become_empty_cells() {
        for (text, expected) in [
            ("1\n2\n", "1\n2\n"),
            ("1\n\n2\n", "1\n\"\"\n2\n"),
            ("\n1", "\"\"\n1"),
            ("1\n\n", "1\n\"\"\n"),
            ("1\r\n\r\n2\r\n", "1\r\n\"\"\r\n2\r\n"),
            ("1\r\r2", "1\r\"\"\r2"),
            ("1\n\r\n2\r\n", "1\n\"\"\r\n2\r\n"),
            ("\"a\n\nb\"\n\n\"\"\"\n\"\n", "\"a\n\nb\"\n\"\"\n\"\"\"\n\"\n"),
            ("", ""),
        ] {
            let mut found = String::new();
            BlankLines::new(text.as_bytes()).read_to_string(&mut found).unwrap();
            assert_eq!(found, expected, "{text:?}");
            // One byte at a time, as a slow source gives them.
            let slow = std::io::BufReader::with_capacity(1, BlankLines::new(text.as_bytes()));
            let slow: Vec<u8> = slow.bytes().collect::<Result<_>>().unwrap();
            assert_eq!(slow, expected.as_bytes(), "{text:?}");
        }
    }
}
