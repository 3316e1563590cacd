use dpglm::central::Privacy;
use dpglm::data::{Dataset, Design};
use dpglm::estimators::dense::{Likelihood, Regression};
use dpglm::noise::RandomSource;
use dpglm::privacy::Budget;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let bytes = std::fs::read(&a[1]).unwrap();
    let v: Vec<f64> = bytes.chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect();
    let (n, d, k, low, high, has_e) = (v[0] as usize, v[1] as usize, v[2] as usize, v[3], v[4], v[5] > 0.0);
    let z = &v[6..6 + n * d];
    let y = &v[6 + n * d..6 + n * d + n];
    let e = &v[6 + n * d + n..];
    let mut x = Vec::with_capacity(n * (d + 1));
    for i in 0..n {
        x.push(1.0);
        x.extend_from_slice(&z[i * d..(i + 1) * d]);
    }
    let mut data = Dataset::new(Design::from_f64(n, d + 1, x).unwrap(), y.to_vec()).unwrap();
    if has_e {
        data = data.with_exposures(e, 1.0).unwrap();
    }
    let l = match a[2].as_str() {
        "logistic" => Likelihood::Logistic,
        "gaussian" => Likelihood::Gaussian { low, high },
        "poisson" => Likelihood::Poisson { low, high },
        _ => Likelihood::Multinomial { classes: k },
    };
    let model = Regression::new(l).unwrap().with_intercept().intervals(0.95).unwrap();
    for eps in a[3].split(',') {
        let eps: f64 = eps.parse().unwrap();
        let privacy = if eps.is_finite() {
            Privacy::Budget(Budget::new(eps, 1.0 / (10.0 * n as f64)).unwrap())
        } else {
            Privacy::None
        };
        let t = std::time::Instant::now();
        let p = model.prepare(data.shape(), privacy).unwrap();
        let t1 = t.elapsed();
        let fit = p.fit(&data, &mut RandomSource::from_os().unwrap()).unwrap();
        eprintln!("prepare {:?} fit {:?} reads {}", t1, t.elapsed() - t1, p.reads());
        let inf = fit.inference.unwrap(); let se: Vec<f64> = inf.intervals.map_or(vec![1e300; d + 1], |v| v.iter().map(|i| i.standard_error).collect()); let s: Vec<String> = inf.estimates.iter().chain(&se).copied().chain(inf.determined.iter().map(|b| f64::from(u8::from(*b)))).chain(fit.coefficients[0].iter().copied()).map(|c| format!("{c:e}")).collect();
        println!("{}", s.join(" "));
    }
}
