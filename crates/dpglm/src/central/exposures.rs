//! Exposures go with counts alone, whichever model is fitted.

use crate::central::{Glm, LinearStatistics, Multinomial};
use crate::data::{Dataset, Design};
use crate::families::Family;
use crate::noise::RandomSource;
use crate::release::{Estimator, Privacy};

#[test]
fn exposures_are_for_counts_alone() {
    let design = Design::from_f64(4, 1, vec![0.1, -0.3, 0.5, 0.2]).unwrap();
    let data = Dataset::new(design, vec![0.0, 1.0, 1.0, 0.0]).unwrap();
    let data = data.with_exposures(&[1.0, 2.0, 3.0, 1.0], 1.0).unwrap();
    let rng = &mut RandomSource::insecure_seeded(1);
    let glm = |family| Glm::new(family, (0.0, 1.0)).unwrap();
    assert!(glm(Family::poisson()).fit(&data, Privacy::None, rng).is_ok());
    let refused = [
        glm(Family::logistic()).fit(&data, Privacy::None, rng).unwrap_err(),
        glm(Family::gaussian()).fit(&data, Privacy::None, rng).unwrap_err(),
        LinearStatistics::new((0.0, 1.0)).unwrap().fit(&data, Privacy::None, rng).unwrap_err(),
        Multinomial::new(2).unwrap().fit(&data, Privacy::None, rng).unwrap_err(),
    ];
    for error in refused {
        assert!(error.to_string().contains("exposures go with counts"), "{error}");
    }
}
