//! From text to terms.

use std::fmt;

use super::refuse;
use crate::error::Result;

/// No formula is longer, in characters; an artefact may be anybody's.
const LONGEST: usize = 20_000;
/// Nor nested deeper.
const DEEPEST: usize = 30;
/// Nor has more terms.
const MOST: usize = 10_000;

/// What stands in a formula.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Syntax {
    Number(f64),
    /// A column.
    Name(String),
    Call(String, Vec<Argument>),
    Minus(Box<Syntax>),
    /// One of `+ - * / ^`.
    Operation(char, Box<Syntax>, Box<Syntax>),
    /// `[1, 2, 3]`
    List(Vec<f64>),
}

/// An argument of a function, and its name where it is given by name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Argument {
    pub key: Option<String>,
    pub value: Syntax,
}

/// A product of factors; of none for the intercept.
pub(super) type Term = Vec<Syntax>;

/// What was read.
pub(super) struct Parsed {
    /// The left side.
    pub response: Option<Syntax>,
    /// The right side, without the intercept.
    pub terms: Vec<Term>,
    pub intercept: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Quoted(String),
    Mark(char),
    End,
}

struct Parser<'n> {
    tokens: Vec<(usize, Token)>,
    at: usize,
    depth: usize,
    /// The columns that `.` stands for.
    others: &'n dyn Fn(Option<&Syntax>) -> Vec<String>,
    /// Whether a column has levels: `C(sex)` is then `sex`.
    has_levels: &'n dyn Fn(&str) -> bool,
    response: Option<Syntax>,
}

/// Reads a formula. `others` gives the columns that `.` stands for beside a response, `has_levels` says of a column whether it has any.
pub(super) fn parse(
    text: &str,
    others: &dyn Fn(Option<&Syntax>) -> Vec<String>,
    has_levels: &dyn Fn(&str) -> bool,
) -> Result<Parsed> {
    if text.chars().count() > LONGEST {
        return refuse(format!("longer than {LONGEST} characters"), "write a shorter one");
    }
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0, others, has_levels, response: None };
    if !parser.tokens.iter().any(|(_, token)| *token == Token::Mark('~')) {
        return refuse(
            format!("{text:?} has no `~`"),
            "write it like \"charges ~ age + sex\", or \"~ age + sex\" to explain the target",
        );
    }
    if parser.peek() != &Token::Mark('~') {
        let response = parser.arithmetic()?;
        if !matches!(response, Syntax::Name(_) | Syntax::Call(..)) {
            return refuse(
                format!("`{response}` on the left side is no column and no function of columns"),
                "a model has one response: write a column, or a function as in I(a + b)",
            );
        }
        parser.response = Some(response);
    }
    parser.expect('~')?;
    let mut terms = vec![Vec::new()];
    parser.sum(&mut terms)?;
    if parser.peek() != &Token::End {
        return parser.unexpected("the end");
    }
    let intercept = terms.iter().any(Vec::is_empty);
    terms.retain(|term| !term.is_empty());
    // Main effects first, as elsewhere; otherwise in the order written.
    terms.sort_by_key(Vec::len);
    if terms.is_empty() {
        return refuse("there are no columns on the right side", "give at least one, or use `dpglm mean`");
    }
    Ok(Parsed { response: parser.response, terms, intercept })
}

fn tokens(text: &str) -> Result<Vec<(usize, Token)>> {
    let letters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        let start = at;
        let next = letters.get(at + 1).copied().unwrap_or(' ');
        let run = |from: usize, of: &dyn Fn(char) -> bool| {
            letters[from..].iter().position(|&c| !of(c)).map_or(letters.len(), |length| from + length)
        };
        let token = match letter {
            _ if letter.is_whitespace() => {
                at += 1;
                continue;
            }
            '`' => {
                let Some(length) = letters[at + 1..].iter().position(|&c| c == '`') else {
                    return refuse(format!("the backtick at place {} is not closed", at + 1), "close it");
                };
                at += length + 2;
                Token::Quoted(letters[start + 1..at - 1].iter().collect())
            }
            _ if letter.is_ascii_digit() || (letter == '.' && next.is_ascii_digit()) => {
                at = run(at, &|c| c.is_ascii_digit() || c == '.');
                if matches!(letters.get(at), Some('e' | 'E')) {
                    let sign = usize::from(matches!(letters.get(at + 1), Some('+' | '-')));
                    if letters.get(at + 1 + sign).is_some_and(char::is_ascii_digit) {
                        at = run(at + 1 + sign, &|c| c.is_ascii_digit());
                    }
                }
                let written: String = letters[start..at].iter().collect();
                match written.parse::<f64>() {
                    Ok(number) if number.is_finite() => Token::Number(number),
                    _ => return refuse(format!("`{written}` is no number"), "correct it"),
                }
            }
            _ if letter.is_alphabetic() || letter == '_' => {
                at = run(at, &|c| c.is_alphanumeric() || c == '_' || c == '.');
                Token::Name(letters[start..at].iter().collect())
            }
            '*' if next == '*' => {
                at += 2;
                Token::Mark('^')
            }
            '+' | '-' | '*' | '/' | ':' | '^' | '(' | ')' | '[' | ']' | ',' | '=' | '~' | '.' => {
                at += 1;
                Token::Mark(letter)
            }
            other => {
                return refuse(
                    format!("`{other}` at place {} has no meaning", at + 1),
                    "put names with such characters in backticks: `education-num`",
                );
            }
        };
        found.push((start, token));
    }
    found.push((letters.len(), Token::End));
    Ok(found)
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(_, token)| token)
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn takes(&mut self, mark: char) -> bool {
        let is_it = *self.peek() == Token::Mark(mark);
        self.at += usize::from(is_it);
        is_it
    }

    fn expect(&mut self, mark: char) -> Result<()> {
        if self.takes(mark) { Ok(()) } else { self.unexpected(&format!("`{mark}`")) }
    }

    fn unexpected<T>(&self, wanted: &str) -> Result<T> {
        let (place, token) = self.tokens.get(self.at).cloned().unwrap_or((0, Token::End));
        let found = match token {
            Token::Number(number) => format!("`{number}`"),
            Token::Name(name) | Token::Quoted(name) => format!("`{name}`"),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::End => "the end".to_owned(),
        };
        refuse(
            format!("{wanted} is expected at place {}, got {found}", place + 1),
            "write it like \"charges ~ age + C(sex) + age:bmi + ns(age, knots=[30, 45])\"; names with other characters than \
             letters, digits, `_` and `.` stand in backticks",
        )
    }

    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= DEEPEST {
            return refuse(format!("nested more than {DEEPEST} deep"), "write it simpler");
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    /// `a + b - c`, beside the terms so far.
    fn sum(&mut self, terms: &mut Vec<Term>) -> Result<()> {
        let mut minus = self.takes('-');
        if !minus {
            self.takes('+');
        }
        loop {
            if *self.peek() == Token::Number(0.0) {
                self.at += 1;
                if minus { add(terms, vec![Vec::new()])? } else { terms.retain(|term| !term.is_empty()) }
            } else {
                let found = self.product()?;
                if minus {
                    terms.retain(|term| !found.iter().any(|other| same(term, other)));
                } else {
                    add(terms, found)?;
                }
            }
            minus = self.takes('-');
            if !minus && !self.takes('+') {
                return Ok(());
            }
        }
    }

    /// `a * b`
    fn product(&mut self) -> Result<Vec<Term>> {
        let mut left = self.interaction()?;
        while self.takes('*') {
            let right = self.interaction()?;
            let both = products(&left, &right)?;
            add(&mut left, right)?;
            add(&mut left, both)?;
        }
        Ok(left)
    }

    /// `a:b`
    fn interaction(&mut self) -> Result<Vec<Term>> {
        let mut left = self.atom()?;
        while self.takes(':') {
            left = products(&left, &self.atom()?)?;
        }
        match self.peek() {
            Token::Mark('^') => refuse(
                "`^` between terms is not arithmetic",
                "write I(age^2) for a square, and a * b for terms with their products",
            ),
            Token::Mark('/') => {
                refuse("`/` between terms is not arithmetic", "write I(a / b) for a quotient")
            }
            _ => Ok(left),
        }
    }

    fn atom(&mut self) -> Result<Vec<Term>> {
        self.deeper(|this| {
            if this.takes('(') {
                let mut terms = Vec::new();
                this.sum(&mut terms)?;
                this.expect(')')?;
                return Ok(terms);
            }
            if this.takes('.') {
                let names = (this.others)(this.response.as_ref());
                return Ok(names.into_iter().map(|name| vec![Syntax::Name(name)]).collect());
            }
            match this.peek() {
                Token::Number(number) if *number == 1.0 => {
                    this.at += 1;
                    Ok(vec![Vec::new()])
                }
                Token::Number(number) => refuse(
                    format!("`{number}` stands alone among the terms"),
                    "write I(2 * age) for arithmetic; `- 1` leaves out the intercept",
                ),
                Token::Name(_) | Token::Quoted(_) => Ok(vec![vec![this.value()?]]),
                _ => this.unexpected("a column"),
            }
        })
    }

    /// Arithmetic, as within `I(...)`.
    fn arithmetic(&mut self) -> Result<Syntax> {
        self.deeper(|this| {
            let mut left = this.scaled()?;
            while let Token::Mark(mark @ ('+' | '-')) = *this.peek() {
                this.at += 1;
                left = Syntax::Operation(mark, Box::new(left), Box::new(this.scaled()?));
                this.refuse_long(&left)?;
            }
            Ok(left)
        })
    }

    fn scaled(&mut self) -> Result<Syntax> {
        let mut left = self.signed()?;
        while let Token::Mark(mark @ ('*' | '/')) = *self.peek() {
            self.at += 1;
            left = Syntax::Operation(mark, Box::new(left), Box::new(self.signed()?));
            self.refuse_long(&left)?;
        }
        Ok(left)
    }

    /// A chain of operations is as deep as it is long.
    fn refuse_long(&self, syntax: &Syntax) -> Result<()> {
        let mut length = 0;
        let mut next = syntax;
        while let Syntax::Operation(_, left, _) = next {
            (length, next) = (length + 1, left);
        }
        if length > 2 * DEEPEST {
            refuse("a chain of too many operations", "write it simpler")
        } else {
            Ok(())
        }
    }

    fn signed(&mut self) -> Result<Syntax> {
        self.deeper(|this| {
            if this.takes('-') {
                return Ok(Syntax::Minus(Box::new(this.signed()?)));
            }
            let base = this.value()?;
            if this.takes('^') {
                return Ok(Syntax::Operation('^', Box::new(base), Box::new(this.signed()?)));
            }
            Ok(base)
        })
    }

    fn value(&mut self) -> Result<Syntax> {
        match self.take() {
            Token::Number(number) => Ok(Syntax::Number(number)),
            Token::Quoted(name) => Ok(Syntax::Name(name)),
            Token::Name(name) => {
                // `np.log` is `log`.
                let called = name.rsplit('.').next().unwrap_or_default().to_owned();
                if self.takes('(') { self.arguments(called) } else { Ok(Syntax::Name(name)) }
            }
            Token::Mark('(') => {
                let inner = self.arithmetic()?;
                self.expect(')')?;
                Ok(inner)
            }
            _ => {
                self.at -= 1;
                self.unexpected("a column or a number")
            }
        }
    }

    fn arguments(&mut self, name: String) -> Result<Syntax> {
        let mut arguments = Vec::new();
        while !self.takes(')') {
            if !arguments.is_empty() {
                self.expect(',')?;
            }
            let key = match (self.peek().clone(), self.tokens.get(self.at + 1)) {
                (Token::Name(key), Some((_, Token::Mark('=')))) => {
                    self.at += 2;
                    Some(key)
                }
                _ => None,
            };
            let value = if self.takes('[') { self.list()? } else { self.arithmetic()? };
            arguments.push(Argument { key, value });
        }
        match &arguments[..] {
            [Argument { key: None, value: column @ Syntax::Name(called) }]
                if name == "C" && (self.has_levels)(called) =>
            {
                Ok(column.clone())
            }
            _ => Ok(Syntax::Call(name, arguments)),
        }
    }

    fn list(&mut self) -> Result<Syntax> {
        let mut numbers = Vec::new();
        while !self.takes(']') {
            if !numbers.is_empty() {
                self.expect(',')?;
            }
            let sign = if self.takes('-') { -1.0 } else { 1.0 };
            match self.take() {
                Token::Number(number) => numbers.push(sign * number),
                _ => {
                    self.at -= 1;
                    return self.unexpected("a number");
                }
            }
        }
        Ok(Syntax::List(numbers))
    }
}

/// Two terms of the same factors.
pub(super) fn same(a: &Term, b: &Term) -> bool {
    a.len() == b.len() && a.iter().all(|factor| b.contains(factor))
}

/// Puts in what is not there yet.
fn add(terms: &mut Vec<Term>, others: Vec<Term>) -> Result<()> {
    for other in others {
        if !terms.iter().any(|term| same(term, &other)) {
            terms.push(other);
        }
    }
    if terms.len() > MOST {
        return refuse(format!("more than {MOST} terms"), "write out the products that matter");
    }
    Ok(())
}

fn products(left: &[Term], right: &[Term]) -> Result<Vec<Term>> {
    let mut found = Vec::new();
    for a in left {
        for b in right {
            let mut product = a.clone();
            product.extend(b.iter().filter(|factor| !a.contains(factor)).cloned());
            add(&mut found, vec![product])?;
        }
    }
    Ok(found)
}

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strength = |syntax: &Syntax| match syntax {
            Syntax::Operation('+' | '-', ..) => 1,
            Syntax::Operation('*' | '/', ..) => 2,
            Syntax::Minus(_) => 3,
            Syntax::Operation(..) => 4,
            _ => 5,
        };
        let within = |f: &mut fmt::Formatter<'_>, syntax: &Syntax, least: u8| {
            if strength(syntax) < least { write!(f, "({syntax})") } else { write!(f, "{syntax}") }
        };
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
            Self::List(numbers) => {
                let written: Vec<String> = numbers.iter().map(f64::to_string).collect();
                write!(f, "[{}]", written.join(", "))
            }
            Self::Minus(inner) => {
                f.write_str("-")?;
                within(f, inner, 3)
            }
            Self::Operation('^', base, exponent) => {
                within(f, base, 5)?;
                f.write_str("^")?;
                within(f, exponent, 4)
            }
            Self::Operation(mark, left, right) => {
                let own = strength(self);
                within(f, left, own)?;
                write!(f, " {mark} ")?;
                within(f, right, own + 1)
            }
            Self::Call(name, arguments) => {
                write!(f, "{name}(")?;
                for (i, Argument { key, value }) in arguments.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    if let Some(key) = key {
                        write!(f, "{key}=")?;
                    }
                    write!(f, "{value}")?;
                }
                f.write_str(")")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Parsed> {
        parse(text, &|_| vec!["a".into(), "b".into(), "c".into()], &|name| name == "b")
    }

    fn terms(text: &str) -> String {
        let parsed = read(text).unwrap();
        let term = |term: &Term| term.iter().map(Syntax::to_string).collect::<Vec<_>>().join(":");
        let all: Vec<String> = parsed.terms.iter().map(term).collect();
        format!("{} {}", u8::from(parsed.intercept), all.join(" "))
    }

    #[test]
    fn terms_are_expanded() {
        for (text, expected) in [
            ("y ~ a + b", "1 a b"),
            ("y ~ a - 1", "0 a"),
            ("y ~ 0 + a", "0 a"),
            ("~ a * b", "1 a b a:b"),
            ("y ~ (a + b):c + a", "1 a a:c b:c"),
            ("y ~ . - b", "1 a c"),
            ("y ~ . - C(b)", "1 a c"),
            ("y ~ b + C(b) + a:C(b) + b:a + C(b):b", "1 b a:b"),
            ("y ~ a + C(a)", "1 a C(a)"),
            ("y ~ a:b + b:a + a:a", "1 a a:b"),
            ("y ~ a*b*c", "1 a b c a:b a:c b:c a:b:c"),
            ("y ~ I(a**2) + np.log(b)", "1 I(a^2) log(b)"),
            ("y ~ ns(a, knots=[1, -2.5]) + `d e`", "1 ns(a, knots=[1, -2.5]) d e"),
            ("y ~ I(-(a + b) * (a - (b - 1)) / 2^-1)", "1 I(-(a + b) * (a - (b - 1)) / 2^(-1))"),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_long_or_deep_is_refused() {
        let nested = format!("y ~ {}a{}", "(".repeat(500), ")".repeat(500));
        let chain = format!("y ~ I(a{})", " + a".repeat(4_000));
        let powers = format!("y ~ I(a{})", "^a".repeat(3_000));
        let products = format!("y ~ {}", (0..60).map(|i| format!("x{i}")).collect::<Vec<_>>().join(" * "));
        for text in [nested, chain, powers, products, format!("y ~ {}", "a".repeat(30_000))] {
            assert!(read(&text).is_err());
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[-a-c0-9.~+*:/^()\\[\\],=`I \u{e9}]{0,40}") {
            let _ = read(&text);
        }

        #[test]
        fn what_is_written_is_read_again(text in "[ab12+*/^() -]{1,24}") {
            if let Ok(parsed) = read(&format!("y ~ I({text})")) {
                let term = parsed.terms[0][0].to_string();
                let again = read(&format!("y ~ {term}")).unwrap();
                prop_assert_eq!(&again.terms[0][0], &parsed.terms[0][0], "{}", term);
            }
        }
    }
}
