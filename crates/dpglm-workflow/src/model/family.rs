//! The families that a command can name: those of the library, and several classes.

use crate::failure::Failure;
use dpglm::data::Bounds;
use dpglm::error::{Message, Parameter};
use dpglm::families::{Domain as Values, Family as OnePredictor, Likelihood};
use dpglm_io::Domain;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// What kind of response a model explains.
#[derive(Debug, Clone, PartialEq)]
pub enum Family {
    /// A response with one linear predictor.
    Single(OnePredictor),
    /// A response of several levels: softmax regression.
    Multinomial,
}

impl Family {
    /// All of them.
    pub fn all() -> Vec<Self> {
        OnePredictor::all().into_iter().map(Self::Single).chain([Self::Multinomial]).collect()
    }

    /// The family that goes with a target: the first for its values.
    pub fn of(domain: &Domain) -> Self {
        let values = match domain {
            Domain::Real(_) => Values::Real,
            Domain::Count(_) => Values::Count,
            Domain::Binary(_) => Values::Binary,
            Domain::Category(_) => return Self::Multinomial,
        };
        let found = OnePredictor::all().into_iter().find(|family| family.domain() == values);
        found.map_or(Self::Multinomial, Self::Single)
    }

    /// Its name on the command line, in Python and in artefacts.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Single(family) => family.name(),
            Self::Multinomial => "multinomial",
        }
    }

    /// What it is for, in a line.
    pub fn summary(&self) -> &'static str {
        match self {
            Self::Single(family) => family.summary(),
            Self::Multinomial => "A response of several levels: softmax regression",
        }
    }

    /// The same as a family with one linear predictor; a multinomial one has several.
    pub fn one_predictor(&self) -> Option<&OnePredictor> {
        match self {
            Self::Single(family) => Some(family),
            Self::Multinomial => None,
        }
    }

    /// Whether its mean is the linear predictor.
    pub fn is_linear(&self) -> bool {
        self.one_predictor().is_some_and(|family| family.is_linear())
    }

    /// Whether it is the logistic one, which some methods are for alone.
    pub(crate) fn is_logistic(&self) -> bool {
        self.one_predictor() == Some(&OnePredictor::logistic())
    }

    /// Whether an exposure multiplies its mean.
    pub fn takes_exposures(&self) -> bool {
        self.one_predictor().is_some_and(|family| family.takes_exposures())
    }

    /// Whether methods other than maximum likelihood know it.
    pub(crate) fn is_classic(&self) -> bool {
        match self.one_predictor() {
            None => true,
            Some(family) => {
                [OnePredictor::gaussian(), OnePredictor::logistic(), OnePredictor::poisson()].contains(family)
            }
        }
    }

    /// The same with this power of the mean in its variance, of a Tweedie family.
    pub(super) fn with_power(self, power: f64) -> Result<Self, Failure> {
        match self.one_predictor() {
            Some(family) if family.is_tweedie() => Ok(Self::Single(OnePredictor::tweedie(power)?)),
            _ => Err(Failure::Usage(Message::new(
                "{} goes with {} tweedie, not with {}: leave it out, or change the family",
                &[&Parameter::Power, &Parameter::Family, &self.name()],
            ))),
        }
    }

    /// Whether its response is one of the target's levels.
    pub(crate) fn has_levels(&self) -> bool {
        self.one_predictor().is_none_or(|family| family.domain() == Values::Binary)
    }

    /// Whether a target of this kind can be its response.
    pub(super) fn fits(&self, target: &Domain) -> bool {
        let counts = |bounds: &Bounds| bounds.lower() >= 0.0;
        match (self.one_predictor().map(|family| family.domain()), target) {
            (Some(Values::Real), Domain::Real(_) | Domain::Count(_) | Domain::Binary(_)) => true,
            (Some(Values::Binary), Domain::Binary(_)) => true,
            (Some(Values::Count), Domain::Count(bounds) | Domain::Real(bounds)) => counts(bounds),
            (Some(Values::Positive), Domain::Count(bounds) | Domain::Real(bounds)) => bounds.lower() > 0.0,
            (Some(Values::Nonnegative), Domain::Count(bounds) | Domain::Real(bounds)) => counts(bounds),
            (None | Some(Values::Classes(_)), Domain::Binary(_) | Domain::Category(_)) => true,
            _ => false,
        }
    }

    /// The target that it needs, in words.
    pub(super) fn needs(&self) -> Message {
        match self.one_predictor().map(|family| family.domain()) {
            Some(Values::Real) => "a real target with bounds".into(),
            Some(Values::Binary) => Message::new(
                "a binary target ({}, or kind = \"binary\" in the schema)",
                &[&Parameter::Binary],
            ),
            Some(Values::Count) => {
                "a target with bounds of at least 0 (kind = \"count\" in the schema)".into()
            }
            Some(Values::Positive) => {
                "a target with bounds above 0 (the smallest amount that can be, not 0)".into()
            }
            Some(Values::Nonnegative) => "a target with bounds of at least 0".into(),
            None | Some(Values::Classes(_)) => {
                "a target with levels (kind = \"category\" in the schema)".into()
            }
        }
    }

    /// Its likelihood of a response within bounds, or of so many classes.
    pub(super) fn likelihood(&self, bounds: (f64, f64), classes: usize) -> Likelihood {
        match self {
            Self::Single(family) => Likelihood::new(family.clone(), bounds),
            Self::Multinomial => Likelihood::Multinomial { classes },
        }
    }
}

impl Serialize for Family {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Family {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let one_predictor = || OnePredictor::named(&name).map(Self::Single);
        Self::all().into_iter().find(|family| family.name() == name).or_else(one_predictor).ok_or_else(|| {
            let names: Vec<String> =
                Self::all().iter().map(|family| format!("`{}`", family.name())).collect();
            de::Error::custom(format!("unknown variant `{name}`, expected one of {}", names.join(", ")))
        })
    }
}

#[cfg(feature = "clap")]
impl clap::ValueEnum for Family {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: std::sync::OnceLock<Vec<Family>> = std::sync::OnceLock::new();
        ALL.get_or_init(Self::all)
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.name()).help(self.summary()))
    }
}
