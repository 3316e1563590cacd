//! Families by name: what a pass or a document names, whoever reads it looks up here.

use super::Family;
use crate::error::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::sync::{PoisonError, RwLock};

/// The families of this library, in the order in which they are listed.
const BUILT_IN: [fn() -> Family; 7] = [
    Family::gaussian,
    Family::logistic,
    Family::probit,
    Family::cloglog,
    Family::poisson,
    Family::gamma,
    Family::usual_tweedie,
];

/// The families of the program's own.
static ADDED: RwLock<Vec<Family>> = RwLock::new(Vec::new());

impl Family {
    /// The families of this library.
    pub fn all() -> Vec<Family> {
        BUILT_IN.iter().map(|family| family()).collect()
    }

    /// The family of a name, of this library or registered.
    pub fn named(name: &str) -> Option<Family> {
        let added = || ADDED.read().unwrap_or_else(PoisonError::into_inner).clone();
        let built_in = || Self::all().into_iter().find(|family| family.name() == name);
        let added = || added().into_iter().find(|family| family.name() == name);
        built_in().or_else(|| Self::tweedie_named(name)).or_else(added)
    }

    /// Lets this process read passes that name a family of its own.
    pub fn register(self) -> Result<Family> {
        if Self::named(self.name()).is_some() {
            return Err(Error::Conflict(format!(
                "a family is called {} already: give it another name",
                self.name()
            )));
        }
        ADDED.write().unwrap_or_else(PoisonError::into_inner).push(self.clone());
        Ok(self)
    }
}

impl Serialize for Family {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Family {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Family::named(&name)
            .ok_or_else(|| de::Error::custom(format!("no family is called {name}: register it first")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_known_is_refused() {
        assert!(serde_json::from_str::<Family>("\"cauchit\"").is_err());
        assert!(Family::named("cauchit").is_none());
        assert!(Family::gaussian().register().is_err());
        for family in Family::all().into_iter().chain([Family::tweedie(1.7).unwrap()]) {
            let text = serde_json::to_string(&family).unwrap();
            assert_eq!(serde_json::from_str::<Family>(&text).unwrap(), family);
        }
    }
}
