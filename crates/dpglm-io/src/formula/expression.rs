//! Numbers made of a row's cells, each within bounds that follow from declared ones.

use super::refuse;
use crate::error::Result;

/// Where arithmetic does not overflow.
const LARGEST: f64 = 1e100;

/// A number that a row has. It never leaves its bounds, whatever is rounded on the way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Number {
    what: What,
    low: f64,
    high: f64,
}

#[derive(Debug, Clone, PartialEq)]
enum What {
    /// A cell, by its place among those that are read.
    Cell(usize),
    Constant(f64),
    Of(Function, Box<Number>),
    /// To a constant.
    Power(Box<Number>, f64),
    Both(Operation, Box<Number>, Box<Number>),
}

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Function {
    Log,
    Log2,
    Log10,
    Log1p,
    Exp,
    Sqrt,
    Abs,
    Minus,
}

/// A function of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operation {
    Plus,
    Minus,
    Times,
    Over,
    Smaller,
    Larger,
}

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "log" => Self::Log,
            "log2" => Self::Log2,
            "log10" => Self::Log10,
            "log1p" => Self::Log1p,
            "exp" => Self::Exp,
            "sqrt" => Self::Sqrt,
            "abs" => Self::Abs,
            _ => return None,
        })
    }

    fn of(self, x: f64) -> f64 {
        match self {
            Self::Log => x.ln(),
            Self::Log2 => x.log2(),
            Self::Log10 => x.log10(),
            Self::Log1p => x.ln_1p(),
            Self::Exp => x.exp(),
            Self::Sqrt => x.sqrt(),
            Self::Abs => x.abs(),
            Self::Minus => -x,
        }
    }

    /// Whether it is defined from here on upwards.
    fn takes(self, x: f64) -> bool {
        match self {
            Self::Log | Self::Log2 | Self::Log10 => x > 0.0,
            Self::Log1p => x > -1.0,
            Self::Sqrt => x >= 0.0,
            Self::Exp | Self::Abs | Self::Minus => true,
        }
    }
}

impl Operation {
    fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Plus => a + b,
            Self::Minus => a - b,
            Self::Times => a * b,
            Self::Over => a / b,
            Self::Smaller => a.min(b),
            Self::Larger => a.max(b),
        }
    }
}

impl Number {
    /// The places of the cells that it is made of.
    pub(super) fn cells(&self, places: &mut Vec<usize>) {
        match &self.what {
            What::Cell(place) => places.push(*place),
            What::Constant(_) => {}
            What::Of(_, inner) | What::Power(inner, _) => inner.cells(places),
            What::Both(_, left, right) => {
                left.cells(places);
                right.cells(places);
            }
        }
    }

    /// A cell within its declared bounds.
    pub(super) fn cell(place: usize, low: f64, high: f64) -> Self {
        Self { what: What::Cell(place), low, high }
    }

    pub(super) fn constant(value: f64) -> Self {
        Self { what: What::Constant(value), low: value, high: value }
    }

    pub(crate) fn low(&self) -> f64 {
        self.low
    }

    pub(crate) fn high(&self) -> f64 {
        self.high
    }

    /// Its place, if it is a cell and nothing else.
    pub(super) fn is_constant(&self) -> Option<f64> {
        if let What::Constant(value) = self.what { Some(value) } else { None }
    }

    fn within(what: What, ends: &[f64], text: &str) -> Result<Self> {
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !(low >= -LARGEST && high <= LARGEST) || ends.iter().any(|end| end.is_nan()) {
            return refuse(
                format!("`{text}` can be as large as 1e100 or more within the declared bounds"),
                "declare narrower bounds, or write another function, such as exp(x / 100)",
            );
        }
        Ok(Self { what, low, high })
    }

    /// A function of a number; `text` is named in a message.
    pub(super) fn map(self, function: Function, text: &str) -> Result<Self> {
        if !function.takes(self.low) {
            let shift = match function {
                Function::Log | Function::Log2 | Function::Log10 if self.low >= 0.0 => {
                    "declare a lower bound above 0, to which smaller cells are then raised, or use log1p, which takes 0"
                }
                _ => "declare bounds on which it is, or add a constant first, as in log(I(x + 10))",
            };
            return refuse(
                format!(
                    "`{text}` is not defined on all of the declared bounds, within which its argument lies in [{}, {}]",
                    self.low, self.high
                ),
                shift,
            );
        }
        let mut ends = vec![function.of(self.low), function.of(self.high)];
        if function == Function::Abs && self.low <= 0.0 && self.high >= 0.0 {
            ends.push(0.0);
        }
        Self::within(What::Of(function, Box::new(self)), &ends, text)
    }

    /// A power of a number.
    pub(super) fn power(self, exponent: f64, text: &str) -> Result<Self> {
        let whole = exponent.fract() == 0.0;
        let defined = match (whole, exponent >= 0.0) {
            (true, true) => true,
            (true, false) => self.low > 0.0 || self.high < 0.0,
            (false, true) => self.low >= 0.0,
            (false, false) => self.low > 0.0,
        };
        if !defined {
            return refuse(
                format!(
                    "`{text}` is not defined on all of the declared bounds [{}, {}]",
                    self.low, self.high
                ),
                "declare bounds on which it is, above 0 for roots and quotients",
            );
        }
        let mut ends = vec![power(self.low, exponent), power(self.high, exponent)];
        if whole && exponent > 0.0 && self.low <= 0.0 && self.high >= 0.0 {
            ends.push(0.0);
        }
        Self::within(What::Power(Box::new(self), exponent), &ends, text)
    }

    /// An operation on two numbers.
    pub(super) fn both(self, operation: Operation, other: Self, text: &str) -> Result<Self> {
        if operation == Operation::Over && other.low <= 0.0 && other.high >= 0.0 {
            return refuse(
                format!("`{text}` may divide by 0 within the declared bounds"),
                "declare bounds of the divisor on one side of 0, or add a constant to it",
            );
        }
        let ends: Vec<f64> = [self.low, self.high]
            .into_iter()
            .flat_map(|a| [other.low, other.high].map(|b| operation.of(a, b)))
            .collect();
        Self::within(What::Both(operation, Box::new(self), Box::new(other)), &ends, text)
    }

    /// Its value in a row.
    pub(crate) fn value(&self, cells: &[f64]) -> f64 {
        let raw = match &self.what {
            What::Cell(place) => cells[*place],
            What::Constant(value) => *value,
            What::Of(function, inner) => function.of(inner.value(cells)),
            What::Power(inner, exponent) => power(inner.value(cells), *exponent),
            What::Both(operation, a, b) => operation.of(a.value(cells), b.value(cells)),
        };
        // No comparison holds for what is no number.
        match raw >= self.low {
            true => raw.min(self.high),
            false => self.low,
        }
    }
}

/// Small whole powers as products.
fn power(x: f64, exponent: f64) -> f64 {
    if exponent.fract() == 0.0 && exponent.abs() <= 64.0 { x.powi(exponent as i32) } else { x.powf(exponent) }
}
