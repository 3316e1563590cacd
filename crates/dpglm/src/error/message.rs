//! A message that knows which of its words are parameters, so that each front end can write them in its own way.

use super::Parameter;
use std::fmt;

/// How a front end writes the parameters that its user gave: `--epsilon`, `epsilon=`, or words.
pub trait Dialect {
    /// The parameter itself.
    fn name(&self, parameter: Parameter) -> String;

    /// A parameter that takes a pair of bounds, with the place of both.
    fn bounds(&self, parameter: Parameter) -> String {
        format!("{} LOW,HIGH", self.name(parameter))
    }
}

/// The library's own way: quoted words.
pub struct Words;

impl Dialect for Words {
    fn name(&self, parameter: Parameter) -> String {
        format!("`{}`", parameter.words())
    }
}

/// A message in pieces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Message(Vec<Piece>);

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Words that are the same everywhere.
    Text(String),
    /// A parameter.
    Name(Parameter),
    /// A parameter that takes a pair of bounds.
    Bounds(Parameter),
}

impl Message {
    /// The template with each `{}` replaced by the next of the pieces.
    pub fn new(template: &str, pieces: &[&dyn AsPieces]) -> Self {
        let mut all = Vec::new();
        let mut texts = template.split("{}");
        all.extend(texts.next().map(|text| Piece::Text(text.to_owned())));
        let mut count = 0;
        for (text, piece) in texts.by_ref().zip(pieces) {
            piece.add_to(&mut all);
            all.push(Piece::Text(text.to_owned()));
            count += 1;
        }
        debug_assert!(
            count == pieces.len() && texts.next().is_none(),
            "places and pieces differ: {template}"
        );
        Self(all)
    }

    /// The whole message as a front end writes it.
    pub fn in_dialect(&self, dialect: &dyn Dialect) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Name(parameter) => dialect.name(*parameter),
            Piece::Bounds(parameter) => dialect.bounds(*parameter),
        };
        self.0.iter().map(piece).collect()
    }
}

/// In the library's words.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_dialect(&Words))
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self(vec![Piece::Text(text)])
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Message {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<Parameter> for Message {
    fn from(parameter: Parameter) -> Self {
        Self(vec![Piece::Name(parameter)])
    }
}

/// What can stand in a message.
pub trait AsPieces {
    /// Adds its pieces.
    fn add_to(&self, pieces: &mut Vec<Piece>);
}

impl AsPieces for Parameter {
    fn add_to(&self, pieces: &mut Vec<Piece>) {
        pieces.push(Piece::Name(*self));
    }
}

impl AsPieces for Piece {
    fn add_to(&self, pieces: &mut Vec<Piece>) {
        pieces.push(self.clone());
    }
}

impl AsPieces for Message {
    fn add_to(&self, pieces: &mut Vec<Piece>) {
        pieces.extend(self.0.iter().cloned());
    }
}

impl AsPieces for &str {
    fn add_to(&self, pieces: &mut Vec<Piece>) {
        pieces.push(Piece::Text((*self).to_owned()));
    }
}

impl AsPieces for String {
    fn add_to(&self, pieces: &mut Vec<Piece>) {
        pieces.push(Piece::Text(self.clone()));
    }
}

impl AsPieces for &String {
    fn add_to(&self, pieces: &mut Vec<Piece>) {
        pieces.push(Piece::Text((*self).clone()));
    }
}

impl AsPieces for usize {
    fn add_to(&self, pieces: &mut Vec<Piece>) {
        pieces.push(Piece::Text(self.to_string()));
    }
}

impl AsPieces for f64 {
    fn add_to(&self, pieces: &mut Vec<Piece>) {
        pieces.push(Piece::Text(self.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Flags;

    impl Dialect for Flags {
        fn name(&self, parameter: Parameter) -> String {
            format!("--{}", parameter.words().replace(' ', "-"))
        }
    }

    #[test]
    fn parameters_are_written_by_the_dialect_and_nothing_else_is() {
        let inner = Message::new("leave out {}", &[&Parameter::Delta]);
        let message =
            Message::new("{} of `{}` is --{}: {}", &[&Parameter::Epsilon, &"epsilon", &2_usize, &inner]);
        assert_eq!(message.to_string(), "`epsilon` of `epsilon` is --2: leave out `delta`");
        assert_eq!(message.in_dialect(&Flags), "--epsilon of `epsilon` is --2: leave out --delta");
        let bounds = Message::new("give {}", &[&Piece::Bounds(Parameter::TargetBounds)]);
        assert_eq!(bounds.in_dialect(&Flags), "give --target-bounds LOW,HIGH");
    }
}
