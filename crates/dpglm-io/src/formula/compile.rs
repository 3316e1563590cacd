//! From terms to columns: each with its name, its bounds, and how it is computed from a row.

use std::sync::Arc;

use super::expression::{Function, Number, Operation};
use super::parse::{Argument, Syntax, Term, parse, same};
use super::refuse;
use super::spline::Basis;
use crate::bounds::{Bounds, Scale, Scaling};
use crate::cell::{Categorical, Numeric};
use crate::encode::{Domain, EncodedColumn, Target, binary_name, binary_scaling};
use crate::error::{Error, Result, list};
use crate::schema::{Kind, Schema};

/// No formula has more columns: a few long products would fill any memory, and an artefact may be anybody's.
const MOST_COLUMNS: usize = 100_000;

/// A formula as columns of a table.
#[derive(Debug, Clone)]
pub(crate) struct Compiled {
    /// The columns of the file that are read.
    pub cells: Vec<Source>,
    pub columns: Vec<EncodedColumn>,
    /// How each column comes from a row's cells.
    pub recipes: Vec<Recipe>,
    /// What is explained: by the left side, or, without one, by the schema's target.
    pub response: Option<(Target, Number)>,
    /// Whether there is a left side.
    pub explains: bool,
    /// The column that is explained, where it is one and not made of any.
    pub target: Option<String>,
    /// Whether the formula leaves the model an intercept.
    pub intercept: bool,
}

/// A column of the file that terms are made of.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub name: String,
    pub kind: SourceKind,
    /// Whether it is read for the response.
    pub is_response: bool,
}

/// What its cells are.
#[derive(Debug, Clone)]
pub(crate) enum SourceKind {
    Number(Numeric),
    /// As the place of the level.
    Levels(Categorical),
}

/// A product of parts.
#[derive(Debug, Clone)]
pub(crate) struct Recipe(Vec<Part>);

#[derive(Debug, Clone)]
enum Part {
    Number(Number),
    /// 1 where a cell is this level.
    Level(usize, usize),
    Curve(Number, Arc<Basis>, usize),
}

impl Recipe {
    /// The places of the cells that it is made of.
    pub(crate) fn cells(&self) -> Vec<usize> {
        let mut places = Vec::new();
        for part in &self.0 {
            match part {
                Part::Number(number) | Part::Curve(number, ..) => number.cells(&mut places),
                Part::Level(cell, _) => places.push(*cell),
            }
        }
        places
    }

    /// The column's value in a row, in the user's unit. It is kept within the column's bounds when it is stored.
    pub(crate) fn value(&self, cells: &[f64]) -> f64 {
        self.0
            .iter()
            .map(|part| match part {
                Part::Number(number) => number.value(cells),
                Part::Level(cell, level) => f64::from(u8::from(cells[*cell] == *level as f64)),
                Part::Curve(x, basis, j) => basis.value(*j, x.value(cells)),
            })
            .product()
    }
}

/// A factor of a term.
enum Factor {
    Number(String, Number),
    Levels(usize, String, Categorical, bool),
    Curve(String, Number, Arc<Basis>),
}

/// One column that a factor, or a product of them, gives.
struct Made {
    name: String,
    parts: Vec<Part>,
    bounds: (f64, f64),
}

struct Compiler<'s> {
    schema: &'s Schema,
    cells: Vec<Source>,
    /// Whether the left side is read.
    on_the_left: bool,
}

impl Compiled {
    /// Reads a formula under a schema.
    pub(crate) fn new(text: &str, schema: &Schema) -> Result<Self> {
        let others = |response: Option<&Syntax>| {
            let mut explained: Vec<String> = schema.written_target().map(str::to_owned).into_iter().collect();
            if let Some(response) = response {
                explained.clear();
                names_in(response, &mut explained);
            }
            let is_left = |name: &str| {
                !explained.iter().any(|other| other == name)
                    && schema.exposure() != Some(name)
                    && schema.weight() != Some(name)
                    && schema.unit() != Some(name)
            };
            let columns = schema.columns.iter().filter(|c| c.kind != Kind::Ignore && is_left(&c.name));
            columns.map(|c| c.name.clone()).collect()
        };
        let has_levels = |name: &str| {
            matches!(schema.column(name).map(|c| &c.kind), Some(Kind::Binary(_) | Kind::Category(_)))
        };
        let parsed = parse(text, &others, &has_levels)?;
        let mut compiler = Compiler { schema, cells: Vec::new(), on_the_left: true };
        let explains = parsed.response.is_some();
        let written = schema.written_target().map(|name| Syntax::Name(name.to_owned()));
        let (response, target) = match parsed.response.or(written) {
            Some(response) => {
                let (explained, number, column) = compiler.response(&response)?;
                (Some((explained, number)), column)
            }
            None => (None, None),
        };
        compiler.on_the_left = false;
        // Only a model with an intercept has centred columns.
        let intercept = schema.intercept() && parsed.intercept;
        let mut compiled = Self {
            cells: Vec::new(),
            columns: Vec::new(),
            recipes: Vec::new(),
            response,
            explains,
            target,
            intercept,
        };
        let mut categories = 0;
        let mut spanned = parsed.terms.clone();
        spanned.extend(intercept.then(Vec::new));
        for term in &parsed.terms {
            compiler.term(term, &mut compiled, &mut categories, &mut spanned)?;
        }
        compiled.cells = compiler.cells;
        compiled.intercept = parsed.intercept;
        Ok(compiled)
    }
}

impl Compiler<'_> {
    /// The place of a column among those that are read.
    fn cell(&mut self, name: &str) -> Result<(usize, Kind)> {
        let Some(column) = self.schema.column(name) else {
            let near: Vec<String> = self
                .schema
                .columns
                .iter()
                .map(|c| c.name.clone())
                .filter(|c| c.contains(name))
                .take(4)
                .collect();
            let hint = match near.is_empty() {
                true => String::new(),
                false => format!(", in backticks if it is {}", list(&near)),
            };
            return refuse(
                format!("`{name}` has no declared bounds or levels"),
                format!("declare them from public knowledge, or correct the name{hint}"),
            );
        };
        if self.schema.unit() == Some(name) {
            return refuse(format!("`{name}` says whose row it is"), "leave it out of the formula");
        }
        if self.schema.exposure() == Some(name) {
            return refuse(
                format!("`{name}` is the exposure, whose coefficient is 1"),
                "leave it out of the formula, or out of the exposure",
            );
        }
        if self.schema.weight() == Some(name) {
            return refuse(
                format!("`{name}` is the sampling weight"),
                "leave it out of the formula, or give it another role than that of the weight",
            );
        }
        if column.kind == Kind::Ignore {
            return refuse(
                format!("`{name}` is declared `kind = \"ignore\"`"),
                "declare its bounds or levels from public knowledge, or leave it out of the formula",
            );
        }
        if let Some(place) = self.cells.iter().position(|source| source.name == name) {
            if self.cells[place].is_response != self.on_the_left {
                return refuse(
                    format!("`{name}` stands on both sides"),
                    "leave it out of the right side: what is explained cannot explain itself",
                );
            }
            return Ok((place, column.kind.clone()));
        }
        let kind = match &column.kind {
            Kind::Real(n) | Kind::Count(n) => SourceKind::Number(*n),
            Kind::Binary(c) | Kind::Category(c) => SourceKind::Levels(c.clone()),
            Kind::Ignore => return refuse(format!("`{name}` is ignored"), "leave it out"),
        };
        self.cells.push(Source { name: name.to_owned(), kind, is_response: self.on_the_left });
        Ok((self.cells.len() - 1, column.kind.clone()))
    }

    /// What is explained; with the column's name where it is one.
    fn response(&mut self, syntax: &Syntax) -> Result<(Target, Number, Option<String>)> {
        let name = match syntax {
            Syntax::Name(name) => Some(name),
            Syntax::Call(function, arguments) if function == "C" => match &arguments[..] {
                [Argument { key: None, value: Syntax::Name(name) }] => Some(name),
                _ => None,
            },
            _ => None,
        };
        if let Some(name) = name {
            let (place, kind) = self.cell(name)?;
            let (bounds, resolution) = match &kind {
                Kind::Real(n) | Kind::Count(n) => ((n.bounds.lower(), n.bounds.upper()), n.resolution),
                Kind::Binary(c) | Kind::Category(c) => ((0.0, (c.levels.count() - 1) as f64), None),
                Kind::Ignore => ((0.0, 1.0), None),
            };
            let domain = crate::encode::domain(&kind);
            let target = Target { name: name.clone(), domain, resolution };
            return Ok((target, Number::cell(place, bounds.0, bounds.1), Some(name.clone())));
        }
        let text = syntax.to_string();
        let number = self.number(syntax, &text)?;
        let bounds = self.bounds(&text, (number.low(), number.high()))?;
        Ok((Target { name: text, domain: Domain::Real(bounds), resolution: None }, number, None))
    }

    fn bounds(&self, text: &str, (low, high): (f64, f64)) -> Result<Bounds> {
        Bounds::new(low, high).map_err(|_| {
            Error::declaration(
                "formula",
                format!("`{text}` has no range to speak of: it lies in [{low}, {high}]"),
                "leave it out, or declare wider bounds of its columns",
            )
        })
    }

    /// Appends the columns of a term. `spanned` are the terms whose columns are there or follow from those that are.
    fn term(
        &mut self,
        term: &Term,
        to: &mut Compiled,
        categories: &mut usize,
        spanned: &mut Vec<Term>,
    ) -> Result<()> {
        if let [Syntax::Name(name)] = &term[..]
            && let (place, Kind::Real(n) | Kind::Count(n)) = self.cell(name)?
        {
            // Bounds are looked for in steps about zero.
            let scale = if n.resolution.is_some() { Scale::Symmetric } else { self.schema.scale() };
            let scaling = Scaling::new(n.bounds, scale, to.intercept && n.resolution.is_none());
            let number = Number::cell(place, n.bounds.lower(), n.bounds.upper());
            to.columns.push(EncodedColumn {
                resolution: n.resolution,
                ..EncodedColumn::number(name.clone(), scaling)
            });
            to.recipes.push(Recipe(vec![Part::Number(number)]));
            return Ok(());
        }
        let factors: Vec<Factor> = term.iter().map(|factor| self.factor(factor)).collect::<Result<_>>()?;
        let whole = has_all_levels(term, &factors, spanned)?;
        if let [Factor::Levels(place, name, levels, binary)] = &factors[..] {
            // One of two levels is a number; both are indicators like those of more.
            let binary = *binary && !whole;
            for (level, label) in with_columns(levels, whole) {
                let (label, scaling, category) = match binary {
                    true => {
                        (binary_name(name, levels), binary_scaling(self.schema.scale(), to.intercept), None)
                    }
                    false => (format!("{name}={label}"), Scaling::INDICATOR, Some(*categories)),
                };
                let declared = name.clone();
                let resolution = None;
                to.columns.push(EncodedColumn {
                    name: label,
                    scaling,
                    category,
                    declared,
                    binary,
                    resolution,
                });
                to.recipes.push(Recipe(vec![Part::Level(*place, level)]));
            }
            *categories += usize::from(!binary);
            return Ok(());
        }
        let declared: Vec<String> = factors.iter().map(Factor::text).collect();
        let declared = declared.join(":");
        let columns: Vec<Vec<Made>> = factors.iter().map(|factor| factor.columns(whole)).collect();
        let count =
            columns.iter().try_fold(1, |count: usize, columns: &Vec<Made>| count.checked_mul(columns.len()));
        if count.is_none_or(|count| count > MOST_COLUMNS.saturating_sub(to.columns.len())) {
            return refuse(
                format!("with `{declared}` there are more than {MOST_COLUMNS} columns"),
                "leave out the product, or one of its factors",
            );
        }
        let mut made = vec![Made { name: String::new(), parts: Vec::new(), bounds: (1.0, 1.0) }];
        for columns in &columns {
            made = made.iter().flat_map(|left| columns.iter().map(|right| left.times(right))).collect();
        }
        for Made { name, parts, bounds } in made {
            let bounds = self.bounds(&name, bounds)?;
            let scaling = Scaling::new(bounds, self.schema.scale(), to.intercept);
            to.columns
                .push(EncodedColumn { declared: declared.clone(), ..EncodedColumn::number(name, scaling) });
            to.recipes.push(Recipe(parts));
        }
        Ok(())
    }

    fn factor(&mut self, syntax: &Syntax) -> Result<Factor> {
        let text = syntax.to_string();
        match syntax {
            Syntax::Name(name) => match self.cell(name)? {
                (place, Kind::Binary(levels)) => Ok(Factor::Levels(place, name.clone(), levels, true)),
                (place, Kind::Category(levels)) => Ok(Factor::Levels(place, name.clone(), levels, false)),
                _ => Ok(Factor::Number(text.clone(), self.number(syntax, &text)?)),
            },
            Syntax::Call(function, arguments) if function == "C" => {
                let [Argument { key: None, value: value @ Syntax::Name(name) }] = &arguments[..] else {
                    return refuse(
                        format!("`{text}` is not understood"),
                        "write C(column); its levels are declared, and its reference level too",
                    );
                };
                match self.factor(value)? {
                    levels @ Factor::Levels(..) => Ok(levels),
                    _ => refuse(
                        format!("`{text}`: `{name}` is declared as a number and has no levels"),
                        "declare the levels that public knowledge allows (levels that are read off private rows leak), or write it \
                         without C",
                    ),
                }
            }
            Syntax::Call(function, arguments) if matches!(function.as_str(), "ns" | "bs" | "pieces") => {
                self.curve(function, arguments, &text)
            }
            _ => Ok(Factor::Number(text.clone(), self.number(syntax, &text)?)),
        }
    }

    fn curve(&mut self, function: &str, arguments: &[Argument], text: &str) -> Result<Factor> {
        let (mut x, mut knots, mut boundary, mut degree) = (None, None, None, 3);
        for Argument { key, value } in arguments {
            match (key.as_deref(), value) {
                (None, value) if x.is_none() => x = Some(value),
                (Some("knots"), Syntax::List(list)) => knots = Some(list.clone()),
                (Some("boundary"), Syntax::List(ends)) if function == "ns" && ends.len() == 2 => {
                    boundary = Some((ends[0], ends[1]));
                }
                (Some("degree"), Syntax::Number(written))
                    if function == "bs" && written.fract() == 0.0 && (1.0..=5.0).contains(written) =>
                {
                    degree = *written as usize;
                }
                (Some("df"), _) => {
                    return refuse(
                        format!("`{text}` asks for knots that are read off the rows, which leak"),
                        format!("give them from public knowledge: {function}(x, knots=[30, 45, 60])"),
                    );
                }
                _ => {
                    return refuse(
                        format!("`{text}` is not understood"),
                        "write ns(x, knots=[30, 45, 60]), with boundary=[20, 70] if it shall be straight beyond; bs(x, \
                         knots=[30, 45, 60]), with degree=1 to 5; or pieces(x, knots=[30, 45])",
                    );
                }
            }
        }
        let (Some(x), Some(knots)) = (x, knots) else {
            return refuse(
                format!("`{text}` has no knots; those that are read off the rows would leak"),
                format!("give them from public knowledge: {function}(x, knots=[30, 45, 60])"),
            );
        };
        let number = self.number(x, text)?;
        let (low, high) = boundary.unwrap_or((number.low(), number.high()));
        let ascending = [&[low], &knots[..], &[high]].concat();
        let apart = |w: &[f64]| w[1] - w[0] > 1e-9 * (high - low);
        if knots.is_empty() || knots.len() > 100 || !ascending.windows(2).all(apart) {
            return refuse(
                format!("`{text}`: knots must lie between {low} and {high}, ascending and apart"),
                "give one or more within the bounds of what the curve is of",
            );
        }
        let basis = match function {
            "ns" => Basis::natural(&knots, (low, high)),
            "bs" => Basis::b(&knots, (low, high), degree),
            _ => Basis::pieces(&knots),
        };
        Ok(Factor::Curve(text.to_owned(), number, Arc::new(basis)))
    }

    fn number(&mut self, syntax: &Syntax, text: &str) -> Result<Number> {
        match syntax {
            Syntax::Number(value) => Ok(Number::constant(*value)),
            Syntax::Name(name) => match self.cell(name)? {
                (_, Kind::Binary(_) | Kind::Category(_)) => refuse(
                    format!("`{text}`: `{name}` has levels and is no number"),
                    format!("write it as a term of its own, C({name}), or as a product, C({name}):x"),
                ),
                (_, Kind::Real(n) | Kind::Count(n)) if n.resolution.is_some() => refuse(
                    format!(
                        "`{text}`: `{name}` has a magnitude in place of bounds, and can be a term by itself alone"
                    ),
                    "declare its bounds",
                ),
                (place, Kind::Real(n) | Kind::Count(n)) => {
                    Ok(Number::cell(place, n.bounds.lower(), n.bounds.upper()))
                }
                (_, Kind::Ignore) => refuse(format!("`{name}` is ignored"), "leave it out"),
            },
            Syntax::Minus(inner) => self.number(inner, text)?.map(Function::Minus, text),
            Syntax::Operation('^', base, exponent) => {
                let exponent = self.number(exponent, text)?;
                // `-1` is a constant too.
                let constant =
                    exponent.is_constant().or((exponent.low() == exponent.high()).then_some(exponent.low()));
                match constant {
                    Some(exponent) => self.number(base, text)?.power(exponent, text),
                    None => refuse(
                        format!("`{text}`: an exponent must be a number"),
                        "write x^2, or exp(b * log(a))",
                    ),
                }
            }
            Syntax::Operation(mark, left, right) => {
                let operation = match mark {
                    '+' => Operation::Plus,
                    '-' => Operation::Minus,
                    '*' => Operation::Times,
                    _ => Operation::Over,
                };
                let (left, right) = (self.number(left, text)?, self.number(right, text)?);
                left.both(operation, right, text)
            }
            Syntax::Call(name, arguments) => self.function(name, arguments, text),
            Syntax::List(_) => {
                refuse(format!("`{text}` is not understood"), "a list of numbers goes with knots=")
            }
        }
    }

    fn function(&mut self, name: &str, arguments: &[Argument], text: &str) -> Result<Number> {
        let operation = match name {
            "pmin" => Some(Operation::Smaller),
            "pmax" => Some(Operation::Larger),
            _ => None,
        };
        match (arguments, operation, Function::named(name)) {
            ([Argument { key: None, value }], None, _) if name == "I" => self.number(value, text),
            ([Argument { key: None, value }], None, Some(function)) => {
                self.number(value, text)?.map(function, text)
            }
            ([Argument { key: None, value: a }, Argument { key: None, value: b }], Some(operation), _) => {
                let (a, b) = (self.number(a, text)?, self.number(b, text)?);
                a.both(operation, b, text)
            }
            _ if matches!(
                name,
                "scale" | "center" | "standardize" | "poly" | "cut" | "factor" | "rank" | "cr" | "lag"
            ) =>
            {
                let instead = match name {
                    "scale" | "center" | "standardize" => "write public numbers: I((age - 50) / 10)",
                    "poly" => "write powers: age + I(age^2)",
                    "factor" => "write C(column) and declare the levels",
                    "cr" => "write ns(x, knots=[30, 45, 60])",
                    _ => "make the column before, by a public rule, or use pieces(x, knots=[...])",
                };
                refuse(format!("`{text}` needs other rows than its own, which leak"), instead)
            }
            _ if matches!(name, "ns" | "bs" | "pieces" | "C") => refuse(
                format!("`{text}`: {name} stands for several columns and is no number"),
                "write it as a term of its own, or in a product with `:`",
            ),
            _ => refuse(
                format!("`{text}`: `{name}` is no known function, or not of so many arguments"),
                "use I, log, log2, log10, log1p, exp, sqrt, abs, pmin, pmax, ns, bs, pieces or C",
            ),
        }
    }
}

impl Factor {
    fn text(&self) -> String {
        match self {
            Self::Number(text, _) | Self::Curve(text, ..) => text.clone(),
            Self::Levels(_, name, ..) => name.clone(),
        }
    }

    /// Its columns. The reference level has one where all levels have; the basis function that others are compared to has none.
    fn columns(&self, whole: bool) -> Vec<Made> {
        match self {
            Self::Number(text, number) => vec![Made {
                name: text.clone(),
                bounds: (number.low(), number.high()),
                parts: vec![Part::Number(number.clone())],
            }],
            Self::Levels(place, name, levels, binary) => {
                let called = |label: &str| match *binary && !whole {
                    true => binary_name(name, levels),
                    false => format!("{name}={label}"),
                };
                let made = |(level, label): (usize, &String)| Made {
                    name: called(label),
                    bounds: (0.0, 1.0),
                    parts: vec![Part::Level(*place, level)],
                };
                with_columns(levels, whole).map(made).collect()
            }
            Self::Curve(text, number, basis) => {
                let made = |(j, label): (usize, String)| Made {
                    name: format!("{text}[{label}]"),
                    bounds: basis.bounds(j, (number.low(), number.high())),
                    parts: vec![Part::Curve(number.clone(), basis.clone(), j)],
                };
                basis.columns().into_iter().map(made).collect()
            }
        }
    }
}

impl Made {
    fn times(&self, other: &Self) -> Self {
        let ends = [self.bounds.0, self.bounds.1].map(|a| [a * other.bounds.0, a * other.bounds.1]);
        let ends = ends.concat();
        let name = match self.name.is_empty() {
            true => other.name.clone(),
            false => format!("{}:{}", self.name, other.name),
        };
        Self {
            name,
            parts: [&self.parts[..], &other.parts[..]].concat(),
            bounds: (
                ends.iter().copied().fold(f64::INFINITY, f64::min),
                ends.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ),
        }
    }
}

/// The levels that have columns: all, or all but the reference.
fn with_columns(levels: &Categorical, whole: bool) -> impl Iterator<Item = (usize, &String)> {
    let reference = levels.reference;
    levels.levels.names().iter().enumerate().filter(move |(level, _)| whole || *level != reference)
}

/// Whether all levels of a term's factor have columns, as they must where no other term says what the reference level does: `x` is missing
/// beside `sex:x`, or the intercept beside `sex`. The term then says it for those that follow.
fn has_all_levels(term: &Term, factors: &[Factor], spanned: &mut Vec<Term>) -> Result<bool> {
    let of_levels = (0..factors.len()).filter(|&i| matches!(factors[i], Factor::Levels(..)));
    let without = |i: usize| -> Term {
        term.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, factor)| factor.clone()).collect()
    };
    let margins: Vec<Term> = of_levels.map(without).collect();
    let Some(missing) = margins.iter().find(|margin| !spanned.iter().any(|other| same(other, margin))) else {
        return Ok(false);
    };
    if let [only] = &margins[..] {
        spanned.push(only.clone());
        return Ok(true);
    }
    let written = |term: &Term, mark: &str| term.iter().map(Syntax::to_string).collect::<Vec<_>>().join(mark);
    refuse(
        format!(
            "`{}` without `{}` leaves open what reference levels do",
            written(term, ":"),
            written(missing, ":")
        ),
        format!("write `{}`", written(term, " * ")),
    )
}

/// The columns that a term names.
fn names_in(syntax: &Syntax, names: &mut Vec<String>) {
    match syntax {
        Syntax::Name(name) => names.push(name.clone()),
        Syntax::Minus(inner) => names_in(inner, names),
        Syntax::Operation(_, left, right) => {
            names_in(left, names);
            names_in(right, names);
        }
        Syntax::Call(_, arguments) => arguments.iter().for_each(|argument| names_in(&argument.value, names)),
        Syntax::Number(_) | Syntax::List(_) => {}
    }
}
