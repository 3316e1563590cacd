//! Simulated numbers: fast, reproducible, not for privacy.

use dpglm::families::Family;

/// A generator (SplitMix64) with the distributions that the papers simulate from.
#[derive(Debug, Clone)]
pub struct Draw {
    state: u64,
    /// The second of a pair of normals.
    spare: Option<f64>,
}

impl Draw {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed, spare: None }
    }

    /// 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform on (0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) * 2f64.powi(-52)
    }

    /// Uniform on (low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// A whole number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.uniform() * bound as f64) as usize
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Standard normal (Marsaglia's polar method).
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (u, v) = (self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            let s = u * u + v * v;
            if s < 1.0 && s > 0.0 {
                let factor = (-2.0 * s.ln() / s).sqrt();
                self.spare = Some(v * factor);
                return u * factor;
            }
        }
    }

    /// Standard Laplace.
    pub fn laplace(&mut self) -> f64 {
        let u = self.between(-1.0, 1.0);
        -(1.0 - u.abs()).ln().copysign(-u)
    }

    /// Uniform on the unit sphere.
    pub fn sphere(&mut self, d: usize) -> Vec<f64> {
        let v: Vec<f64> = (0..d).map(|_| self.normal()).collect();
        let norm = norm(&v);
        v.into_iter().map(|x| x / norm).collect()
    }

    /// Entries uniform on (-1, 1) in single precision: there may be hundreds of millions.
    pub fn features(&mut self, count: usize) -> Vec<f32> {
        let mut entries = Vec::with_capacity(count);
        while entries.len() + 2 <= count {
            let bits = self.bits();
            entries.push((bits >> 40) as f32 / 8_388_608.0 - 1.0);
            entries.push((bits << 32 >> 40) as f32 / 8_388_608.0 - 1.0);
        }
        if entries.len() < count {
            entries.push((self.bits() >> 40) as f32 / 8_388_608.0 - 1.0);
        }
        entries
    }

    /// Entries of random sign.
    pub fn signs(&mut self, count: usize) -> Vec<i8> {
        let mut entries = Vec::with_capacity(count);
        while entries.len() < count {
            let bits = self.bits();
            entries.extend(
                (0..64.min(count - entries.len())).map(|k| if bits >> k & 1 == 1 { 1_i8 } else { -1 }),
            );
        }
        entries
    }

    /// A binary response with this linear predictor of a logistic model.
    pub fn logistic(&mut self, predictor: f64) -> f64 {
        f64::from(u8::from(self.chance(Family::logistic().mean(predictor))))
    }

    /// The numbers below n in random order.
    pub fn shuffled(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}

/// The l2 norm.
pub fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The squared l2 distance.
pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// The l2 distance.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    squared_distance(a, b).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean, variance and fourth moment within five standard errors: 200,000 draws tell a defect of one per cent.
    #[test]
    fn moments_are_right() {
        let n = 200_000;
        type Case = (&'static str, fn(&mut Draw) -> f64, [f64; 3], f64);
        let cases: [Case; 3] = [
            ("normal", Draw::normal, [0.0, 1.0, 3.0], 105.0),
            ("laplace", Draw::laplace, [0.0, 2.0, 24.0], 40_320.0),
            ("uniform", |r| r.between(-1.0, 1.0), [0.0, 1.0 / 3.0, 0.2], 1.0 / 9.0),
        ];
        for (name, sample, [mean, square, fourth], eighth) in cases {
            let mut draw = Draw::new(crate::task::seed(&["moments_are_right", name]));
            let values: Vec<f64> = (0..n).map(|_| sample(&mut draw)).collect();
            let moment = |k: i32| values.iter().map(|x| x.powi(k)).sum::<f64>() / f64::from(n);
            let near = |found: f64, wanted: f64, variance: f64| {
                (found - wanted).abs() < 5.0 * (variance / f64::from(n)).sqrt()
            };
            assert!(near(moment(1), mean, square), "{name}");
            assert!(near(moment(2), square, fourth - square * square), "{name}");
            assert!(near(moment(4), fourth, eighth - fourth * fourth), "{name}");
            assert!(!near(1.05 * moment(2), square, fourth - square * square), "{name}: no power");
        }
    }

    #[test]
    fn shuffles_keep_every_number() {
        let mut order = Draw::new(7).shuffled(100);
        assert_ne!(order, (0..100).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }
}
