use dpglm::accounting::calibrate;
use dpglm::mechanisms::ClippedSum;
use dpglm::noise::RandomSource;
use dpglm::accounting::Certificate;
use dpglm::privacy::{Adjacency, Budget, Noise};

fn main() -> dpglm::Result<()> {
    // 2,000 people, two columns each. Rows are clipped to l2 norm 1: this is enforced, not assumed.
    let rows: Vec<f64> = (0..2_000).flat_map(|i| [f64::from(i) / 2_000.0, 0.5]).collect();

    // How much noise does a budget of (0.5, 1e-6) ask for?
    let template = ClippedSum::new(1.0, 1.0, 2)?.events();
    let events = calibrate(&template, &[], Budget::new(0.5, 1e-6)?)?;
    let Noise::Gaussian { sigma, .. } = events[0].noise() else { unreachable!("sums get Gaussian noise") };

    // Release the noisy sum, with noise from the operating system's randomness, and say what it cost.
    let mut rng = RandomSource::from_os()?;
    let sum = ClippedSum::new(1.0, sigma, 2)?.release(&rows, &mut rng)?;
    let certificate = Certificate::certified(Adjacency::ReplaceRow, sum.events, 1e-6, &rng)?
        .enforcing("each row is clipped to l2 norm 1");
    println!("means {:.2} and {:.2}", sum.value[0] / 2_000.0, sum.value[1] / 2_000.0);
    println!("{certificate}");
    Ok(())
}
