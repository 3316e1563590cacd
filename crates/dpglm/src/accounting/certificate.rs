//! The certificate: what left, what it cost, and on what the promise rests.
//!
//! A certificate is written once, by the code that made the release, and read many times. It cannot be made without saying where the
//! noise came from ([`Randomness`]): a fixed seed leaves no promise.
//!
//! Reading goes through validation: a document that claims less privacy loss than its own events cost is refused. That is arithmetic: that
//! the releases were as listed, and that the grade is true, a reader has to take from whoever wrote the document. A signature over its
//! bytes says who that was.

use super::part::{self, Part};
use super::{Guarantee, Method, epsilon_at};
use crate::error::{Error, Parameter, Result, require_positive};
use crate::privacy::budget::check_delta;
use crate::privacy::conditions::{self, Randomness};
use crate::privacy::decimal::{factor, plain, rounded_up};
use crate::privacy::{Adjacency, Event};
use serde::{Deserialize, Serialize};
use std::fmt;

const SCHEMA: &str = "dpglm.certificate/1";

/// How far the promise reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grade {
    /// Holds for every data set.
    Certified,
    /// Holds if these assumptions about the data hold. The user accepted each by name.
    Conditional(Vec<String>),
    /// No promise, and why: a non-private reference, or a fixed seed.
    None(String),
}

/// What left, what it cost, and on what the promise rests.
///
/// ```
/// use dpglm::noise::RandomSource;
/// use dpglm::accounting::Certificate;
/// use dpglm::privacy::{Adjacency, Event, Noise};
///
/// let rng = RandomSource::from_os()?;
/// let events = vec![Event::new("mean", Noise::Gaussian { sensitivity: 0.01, sigma: 0.1 }, 1)?];
/// let certificate = Certificate::certified(Adjacency::ReplaceRow, events, 1e-6, &rng)?
///     .enforcing("each row is clipped to l2 norm 5");
/// let read = Certificate::from_json(&certificate.to_json())?;
/// assert_eq!(read, certificate);
/// # Ok::<(), dpglm::Error>(())
/// ```
///
/// Without the source of the noise there is no certificate:
///
/// ```compile_fail,E0061
/// use dpglm::accounting::Certificate;
/// use dpglm::privacy::{Adjacency, Event, Noise};
///
/// let events = vec![Event::new("mean", Noise::Gaussian { sensitivity: 0.01, sigma: 0.1 }, 1)?];
/// let certificate = Certificate::certified(Adjacency::ReplaceRow, events, 1e-6)?;
/// # Ok::<(), dpglm::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Document", into = "Document")]
pub struct Certificate {
    adjacency: Adjacency,
    grade: Grade,
    events: Vec<Event>,
    parts: Vec<Part>,
    guarantee: Option<Guarantee>,
    curve: Vec<(f64, f64)>,
    enforced: Vec<String>,
    conditions: Vec<String>,
    version: String,
}

impl Certificate {
    /// A promise that holds for every data set, of releases whose noise came from `randomness`. The accountant computes epsilon at
    /// `delta` (zero for a pure promise). Noise from a fixed seed is no promise: the grade is then none.
    pub fn certified<'a>(
        adjacency: Adjacency,
        events: Vec<Event>,
        delta: f64,
        randomness: impl Into<Randomness<'a>>,
    ) -> Result<Self> {
        Self::certified_in_parts(adjacency, events, Vec::new(), delta, randomness)
    }

    /// A certificate for rows divided into public parts: `events` were released from all rows, each part's from its rows
    /// alone, and the promise is what the worst-off row has.
    pub fn certified_in_parts<'a>(
        adjacency: Adjacency,
        events: Vec<Event>,
        parts: Vec<Part>,
        delta: f64,
        randomness: impl Into<Randomness<'a>>,
    ) -> Result<Self> {
        let randomness = randomness.into();
        let local = matches!(adjacency, Adjacency::ReplaceUserRecord | Adjacency::ReplaceUserLabel);
        if matches!(randomness, Randomness::Devices) && !local {
            return Err(Error::Conflict(
                "devices draw noise in the local model only: name the source that the noise of this table came from".into(),
            ));
        }
        let guarantee = part::guarantee(&events, &parts, delta)?;
        let curve = part::curve(&events, &parts)?;
        Ok(Self::accounted(adjacency, events, guarantee, curve, randomness).in_parts(parts))
    }

    /// Notes the releases of parts of the rows, under a guarantee that already counts them.
    pub(crate) fn in_parts(mut self, parts: Vec<Part>) -> Self {
        self.parts = parts;
        if self.parts.is_empty() { self } else { self.provided(conditions::ORDER) }
    }

    /// A promise that was accounted for before the events took place.
    pub(crate) fn accounted<'a>(
        adjacency: Adjacency,
        events: Vec<Event>,
        guarantee: Guarantee,
        curve: Vec<(f64, f64)>,
        randomness: impl Into<Randomness<'a>>,
    ) -> Self {
        if let Randomness::Source(source) = randomness.into()
            && let Some(seed) = source.insecure_seed()
        {
            return Self::without_promise(
                adjacency,
                events,
                format!("the noise is that of the fixed seed {seed}"),
            );
        }
        Self {
            curve,
            conditions: conditions::of_use(&adjacency),
            adjacency,
            grade: Grade::Certified,
            events,
            parts: Vec::new(),
            guarantee: Some(guarantee),
            enforced: Vec::new(),
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }

    /// The same after `earlier` releases, on whose results the later noise depended, under a promise that was made before any of
    /// them: no joint account covers a plan that was chosen on the way, and a claim that followed the choice would be none.
    pub(crate) fn after(
        mut self,
        mut earlier: Vec<Event>,
        guarantee: Guarantee,
        curve: Vec<(f64, f64)>,
    ) -> Self {
        earlier.append(&mut self.events);
        self.events = earlier;
        if self.guarantee.is_some() {
            (self.guarantee, self.curve) = (Some(guarantee), curve);
        }
        self
    }

    /// No promise: `reason` says why. Events, if any, are listed all the same.
    pub fn without_promise(adjacency: Adjacency, events: Vec<Event>, reason: impl Into<String>) -> Self {
        Self {
            adjacency,
            grade: Grade::None(reason.into()),
            events,
            parts: Vec::new(),
            guarantee: None,
            curve: Vec::new(),
            enforced: Vec::new(),
            conditions: Vec::new(),
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }

    /// Adds a bound that the mechanism enforces on every data set.
    pub fn enforcing(mut self, bound: impl Into<String>) -> Self {
        self.enforced.push(bound.into());
        self
    }

    /// Notes that the mechanism made several rows of each row of the table, and bounds what these add together.
    pub fn of_rows_made(self) -> Self {
        self.enforcing(conditions::MADE_OF_ONE)
    }

    /// Whether several rows were made of each row of the table.
    pub fn is_of_rows_made(&self) -> bool {
        self.enforced.iter().any(|bound| bound == conditions::MADE_OF_ONE)
    }

    /// Adds a condition of use that software cannot enforce. Where nothing is promised there is nothing to provide for.
    pub fn provided(mut self, condition: impl Into<String>) -> Self {
        if self.guarantee.is_some() {
            self.conditions.push(condition.into());
        }
        self
    }

    /// Lowers the grade to conditional: the promise rests on `assumption`, which is not enforced.
    pub fn assuming(mut self, assumption: impl Into<String>) -> Self {
        let assumption = assumption.into();
        self.grade = match self.grade {
            Grade::Certified => Grade::Conditional(vec![assumption]),
            Grade::Conditional(mut assumptions) => {
                assumptions.push(assumption);
                Grade::Conditional(assumptions)
            }
            none @ Grade::None(_) => none,
        };
        self
    }

    /// Who the neighbours are.
    pub fn adjacency(&self) -> &Adjacency {
        &self.adjacency
    }

    /// How far the promise reaches.
    pub fn grade(&self) -> &Grade {
        &self.grade
    }

    /// Everything that left.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// What was released from one public part of the rows alone; a row pays for one part.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The promise; `None` with grade none.
    pub fn guarantee(&self) -> Option<Guarantee> {
        self.guarantee
    }

    /// The whole privacy curve as (epsilon, delta) pairs; empty with grade none.
    pub fn curve(&self) -> &[(f64, f64)] {
        &self.curve
    }

    /// The bounds enforced on every data set.
    pub fn enforced(&self) -> &[String] {
        &self.enforced
    }

    /// Conditions of use that software cannot enforce.
    pub fn conditions(&self) -> &[String] {
        &self.conditions
    }

    /// The certificate as JSON, with its schema's name and version.
    pub fn to_json(&self) -> String {
        // Strings, finite numbers and enums only: there is nothing in it that JSON cannot hold.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Reads a certificate, checks its form, and recomputes its claim from its events.
    pub fn from_json(text: &str) -> Result<Self> {
        let certificate: Self = serde_json::from_str(text).map_err(|e| malformed(e.to_string()))?;
        certificate.verify()?;
        Ok(certificate)
    }

    /// Recomputes the privacy loss from the events and refuses a claim below it.
    pub fn verify(&self) -> Result<()> {
        // A later version may account more tightly, never more loosely by more than numerical noise.
        const NOISE: f64 = 1e-6;
        let Some(claim) = self.guarantee else { return Ok(()) };
        let paths = part::paths(&self.events, &self.parts);
        let points = std::iter::once((claim.epsilon, claim.delta)).chain(self.curve.iter().copied());
        for (epsilon, delta) in points {
            for path in &paths {
                let cost = epsilon_at(path, delta)?;
                if cost > epsilon * (1.0 + NOISE) {
                    return Err(malformed(format!(
                        "it claims epsilon {} at delta {}, but its events cost {}",
                        plain(epsilon),
                        plain(delta),
                        rounded_up(cost)
                    )));
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Certificate {
    /// The promise in one plain sentence, its numbers rounded up.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Guarantee { epsilon, delta, .. }) = self.guarantee else {
            let Grade::None(reason) = &self.grade else { return write!(f, "No privacy is promised.") };
            return write!(f, "No privacy is promised: {reason}.");
        };
        match &self.adjacency {
            Adjacency::ReplaceRow if self.is_of_rows_made() => {
                write!(f, "Replacing any one row of the table, with all rows that are made of it,")?;
            }
            Adjacency::ReplaceRow => write!(f, "Replacing any one row")?,
            Adjacency::ReplaceUnit(column) => write!(f, "Replacing all rows of any one {column}")?,
            Adjacency::ReplaceUserRecord => write!(f, "Replacing any one user's record")?,
            Adjacency::ReplaceUserLabel => write!(f, "Replacing any one user's label")?,
            Adjacency::ReplacePair => write!(f, "Replacing any one row (a row is two people)")?,
        }
        write!(f, " changes the probability of any result by at most a factor {}", factor(epsilon))?;
        if delta > 0.0 {
            write!(f, ", up to an additional probability of {}", rounded_up(delta))?;
        }
        if let Grade::Conditional(assumptions) = &self.grade {
            write!(f, ", provided that {}", assumptions.join(" and that "))?;
        }
        write!(f, ".")
    }
}

fn malformed(reason: String) -> Error {
    Error::Malformed { what: "certificate", reason }
}

/// The JSON shape of a certificate.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    version: String,
    grade: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    assumptions: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    adjacency: Adjacency,
    epsilon: Option<f64>,
    delta: Option<f64>,
    composition: Option<Method>,
    events: Vec<Event>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Part>,
    curve: Vec<(f64, f64)>,
    enforced: Vec<String>,
    conditions: Vec<String>,
}

impl From<Certificate> for Document {
    fn from(c: Certificate) -> Self {
        let (grade, assumptions, reason) = match c.grade {
            Grade::Certified => ("certified", Vec::new(), None),
            Grade::Conditional(assumptions) => ("conditional", assumptions, None),
            Grade::None(reason) => ("none", Vec::new(), Some(reason)),
        };
        Self {
            schema: SCHEMA.into(),
            version: c.version,
            grade: grade.into(),
            assumptions,
            reason,
            adjacency: c.adjacency,
            epsilon: c.guarantee.map(|g| g.epsilon),
            delta: c.guarantee.map(|g| g.delta),
            composition: c.guarantee.map(|g| g.method),
            events: c.events,
            parts: c.parts,
            curve: c.curve,
            enforced: c.enforced,
            conditions: c.conditions,
        }
    }
}

impl TryFrom<Document> for Certificate {
    type Error = Error;
    fn try_from(d: Document) -> Result<Self> {
        if d.schema != SCHEMA {
            return Err(malformed(format!("its schema is {:?}, this version reads {SCHEMA:?}", d.schema)));
        }
        let grade = match (d.grade.as_str(), d.assumptions.is_empty(), d.reason) {
            ("certified", true, None) => Grade::Certified,
            ("conditional", false, None) => Grade::Conditional(d.assumptions),
            ("none", true, Some(reason)) => Grade::None(reason),
            (grade, ..) => {
                return Err(malformed(format!(
                    "grade {grade:?} does not go with its assumptions and reason: \"certified\" has neither, \
                     \"conditional\" names assumptions, \"none\" gives a reason"
                )));
            }
        };
        let guarantee = match (&grade, d.epsilon, d.delta, d.composition) {
            (Grade::None(_), None, None, None) => None,
            (Grade::Certified | Grade::Conditional(_), Some(epsilon), Some(delta), Some(method)) => {
                check_point(epsilon, delta)?;
                Some(Guarantee { epsilon, delta, method })
            }
            _ => {
                return Err(malformed(
                    "epsilon, delta and composition are given together, and exactly when the grade is not none".into(),
                ));
            }
        };
        if guarantee.is_some() && part::paths(&d.events, &d.parts).iter().any(Vec::is_empty) {
            return Err(malformed("a promise without events".into()));
        }
        if guarantee.is_none() && !d.curve.is_empty() {
            return Err(malformed("a privacy curve without a promise".into()));
        }
        for &(epsilon, delta) in &d.curve {
            check_point(epsilon, delta)?;
        }
        Ok(Self {
            adjacency: d.adjacency,
            grade,
            events: d.events,
            parts: d.parts,
            guarantee,
            curve: d.curve,
            enforced: d.enforced,
            conditions: d.conditions,
            version: d.version,
        })
    }
}

/// A point of a privacy curve: a finite epsilon from 0, delta in [0, 1).
fn check_point(epsilon: f64, delta: f64) -> Result<()> {
    if epsilon != 0.0 {
        require_positive(Parameter::Epsilon, epsilon, "the document was changed after it was written")?;
    }
    if delta != 0.0 {
        check_delta(delta)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::RandomSource;
    use crate::privacy::Noise;

    fn certificate() -> Certificate {
        certificate_from(&RandomSource::from_os().unwrap())
    }

    fn certificate_from(source: &RandomSource) -> Certificate {
        let events = vec![
            Event::new("support", Noise::Selection { sensitivity: 1.0, scale: 30.0 }, 5).unwrap(),
            Event::new("values", Noise::Gaussian { sensitivity: 1.0, sigma: 9.0 }, 1).unwrap(),
        ];
        Certificate::certified(Adjacency::ReplaceUnit("patient".into()), events, 1e-6, source).unwrap()
    }

    #[test]
    fn round_trip_keeps_everything() {
        let plain = certificate().enforcing("rows are clipped").provided("n is public");
        let conditional = certificate().assuming("rows have norm 1").assuming("y is bounded");
        let none = certificate_from(&RandomSource::insecure_seeded(3)).provided("nothing");
        assert!(matches!(none.grade(), Grade::None(_)) && none.guarantee().is_none());
        assert!(none.conditions().is_empty() && none.curve().is_empty() && none.events().len() == 2);
        for c in [plain, conditional, none] {
            assert_eq!(Certificate::from_json(&c.to_json()).unwrap(), c);
        }
    }

    #[test]
    fn a_claim_below_its_cost_is_refused() {
        let c = certificate();
        let epsilon = c.guarantee().unwrap().epsilon;
        let mut document: serde_json::Value = serde_json::from_str(&c.to_json()).unwrap();
        document["epsilon"] = (0.99 * epsilon).into();
        let error = Certificate::from_json(&document.to_string()).unwrap_err().to_string();
        assert!(error.contains("its events cost"), "{error}");
    }

    /// A row pays for all rows' releases and for its own part's: the worst part is promised, not the sum.
    #[test]
    fn parts_cost_their_maximum() {
        let event = |what: &str, sigma: f64| {
            Event::new(what, Noise::Gaussian { sensitivity: 1.0, sigma }, 1).unwrap()
        };
        let part = |rows: &str, sigma: f64| Part { rows: rows.into(), events: vec![event(rows, sigma)] };
        let parts = vec![part("four of five", 8.0), part("every fifth", 4.0)];
        let common = vec![event("fit", 5.0)];
        let rng = RandomSource::from_os().unwrap();
        let certificate =
            Certificate::certified_in_parts(Adjacency::ReplaceRow, common.clone(), parts.clone(), 1e-6, &rng)
                .unwrap();
        let worst = epsilon_at(&[common[0].clone(), event("every fifth", 4.0)], 1e-6).unwrap();
        let claimed = certificate.guarantee().unwrap().epsilon;
        assert_eq!(claimed, worst);
        assert!(certificate.verify().is_ok() && certificate.parts().len() == 2);
        assert_eq!(Certificate::from_json(&certificate.to_json()).unwrap(), certificate);
        assert_eq!(certificate.conditions().last().map(String::as_str), Some(conditions::ORDER));
        // A fixed seed takes back this promise too.
        let seeded = RandomSource::insecure_seeded(1);
        let none =
            Certificate::certified_in_parts(Adjacency::ReplaceRow, common, parts, 1e-6, &seeded).unwrap();
        assert!(
            matches!(none.grade(), Grade::None(_)) && none.guarantee().is_none() && none.parts().len() == 2
        );
        // A part that costs more than the claim is found, whichever it is.
        for k in 0..2 {
            let mut document: serde_json::Value = serde_json::from_str(&certificate.to_json()).unwrap();
            document["parts"][k]["events"][0]["sigma"] = 1.0.into();
            assert!(Certificate::from_json(&document.to_string()).is_err(), "{k}");
        }
    }

    #[test]
    fn tampered_documents_are_refused() {
        let edits: [(&str, serde_json::Value); 9] = [
            ("schema", "dpglm.certificate/2".into()),
            ("grade", "certain".into()),
            ("grade", "conditional".into()),
            ("epsilon", serde_json::Value::Null),
            ("delta", 2.0.into()),
            ("epsilon", (-1.0).into()),
            ("events", serde_json::json!([])),
            ("adjacency", "add_remove".into()),
            ("surprise", 1.into()),
        ];
        for (field, value) in edits {
            let mut document: serde_json::Value = serde_json::from_str(&certificate().to_json()).unwrap();
            document[field] = value.clone();
            assert!(Certificate::from_json(&document.to_string()).is_err(), "{field} = {value}");
        }
    }

    #[test]
    fn the_sentence_names_unit_and_numbers() {
        let sentence = certificate().to_string();
        assert!(sentence.starts_with("Replacing all rows of any one patient changes"), "{sentence}");
        assert!(sentence.ends_with("up to an additional probability of 1e-6."), "{sentence}");
    }

    /// 0.00004 is not 0.0000, and 0.1234401 not 0.1234.
    #[test]
    fn the_sentence_rounds_up() {
        for (epsilon, factor) in [(0.000_04, "e^(4e-5)"), (0.123_440_1, "e^0.123441"), (0.5, "e^0.5")] {
            let events = vec![Event::new("vote", Noise::Pure { epsilon }, 1).unwrap()];
            let adjacency = Adjacency::ReplaceUserRecord;
            let certificate = Certificate::certified(adjacency, events, 0.0, Randomness::Devices).unwrap();
            assert!(certificate.to_string().ends_with(&format!("a factor {factor}.")), "{certificate}");
        }
        let events = vec![Event::new("mean", Noise::Gaussian { sensitivity: 1.0, sigma: 9.0 }, 1).unwrap()];
        let rng = RandomSource::from_os().unwrap();
        let certificate =
            Certificate::certified(Adjacency::ReplaceRow, events, 1.234_567_8e-6, &rng).unwrap();
        assert!(certificate.to_string().ends_with(" 1.23457e-6."), "{certificate}");
    }

    /// A table's noise is drawn where the table is.
    #[test]
    fn devices_draw_noise_in_the_local_model_only() {
        let events = || vec![Event::new("vote", Noise::Pure { epsilon: 1.0 }, 1).unwrap()];
        let certified = |adjacency| Certificate::certified(adjacency, events(), 0.0, Randomness::Devices);
        for adjacency in [Adjacency::ReplaceUserRecord, Adjacency::ReplaceUserLabel] {
            assert_eq!(*certified(adjacency).unwrap().grade(), Grade::Certified);
        }
        for adjacency in [Adjacency::ReplaceRow, Adjacency::ReplacePair, Adjacency::ReplaceUnit("id".into())]
        {
            assert!(certified(adjacency).is_err());
        }
    }
}
