//! Privacy numbers in print: always on the safe side, never merely the nearest.
//!
//! # Algorithm
//! A number that has a name of at most `digits` significant digits is printed by that name. Its name is the shortest decimal
//! that reads back as the same number: the one that users write and that documents hold, so print and document agree. Any other
//! number is written out exactly, which a binary number allows (767 digits at most), cut after `digits` of them, and raised by one unit
//! of the last: no arithmetic of rounded numbers is involved.
//!
//! # Guarantee
//! The printed decimal is at least the number (at most, for [`rounded_down`]), and by less than one unit of its last digit; or it
//! reads back as the very same number. In the second case it may lie below by half a unit in the last binary place, a part in
//! 2^53: that is the difference between a number and its name in every document.
//!
//! # Which way
//! | number | way |
//! | --- | --- |
//! | epsilon, delta, mu, rho: a promise or a cost | up |
//! | noise that somebody shall add | up |
//! | noise that was added, beside what it hides | down |
//! | sensitivity | up |
//! | a lower bound that an attack proved | down |

/// Significant digits of privacy numbers in tables and sentences.
pub const DIGITS: usize = 6;

/// More than the significant digits of any double: written with as many, every one is exact.
const EXACT: usize = 770;

/// A number as a person writes it: 0.5, 20, 1e-5. Every digit that it takes to read it back.
pub fn plain(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

/// A number to six digits, rounded up: a larger epsilon, delta or noise is the safe side.
///
/// ```
/// use dpglm::privacy::decimal::rounded_up;
///
/// assert_eq!(rounded_up(0.123_440_1), "0.123441");
/// assert_eq!(rounded_up(0.000_04), "4e-5");
/// assert_eq!(rounded_up(0.1), "0.1");
/// ```
pub fn rounded_up(value: f64) -> String {
    rounded(value, DIGITS, true)
}

/// A number to `digits` digits, rounded up.
pub fn rounded_up_to(value: f64, digits: usize) -> String {
    rounded(value, digits, true)
}

/// A number to six digits, rounded down: for noise that was added.
pub fn rounded_down(value: f64) -> String {
    rounded(value, DIGITS, false)
}

/// A number to `digits` digits, rounded down: for a lower bound, which is one only if it is rounded down.
pub fn rounded_down_to(value: f64, digits: usize) -> String {
    rounded(value, digits, false)
}

/// The factor of a promise, `e^0.5`, with its exponent rounded up.
pub fn factor(epsilon: f64) -> String {
    let exponent = rounded_up(epsilon);
    // "e^4e-5" could be read in two ways.
    if exponent.contains('e') { format!("e^({exponent})") } else { format!("e^{exponent}") }
}

fn rounded(value: f64, digits: usize, up: bool) -> String {
    let named = |text: &str| text.bytes().take_while(|b| *b != b'e').filter(u8::is_ascii_digit).count();
    if !value.is_finite() || named(&format!("{value:e}")) <= digits {
        return plain(value);
    }
    let exact = format!("{:.*e}", EXACT - 1, value.abs());
    let (mantissa, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
    let mut exponent: i32 = exponent.parse().unwrap_or(0);
    // The name is longer than `digits`, so what is cut off is not zero.
    let mut kept: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).take(digits.max(1)).collect();
    let negative = value < 0.0;
    if up != negative {
        // One unit of the last digit: nines become zeros, and the digit before them is raised.
        while kept.last() == Some(&b'9') {
            kept.pop();
        }
        match kept.last_mut() {
            Some(last) => *last += 1,
            None => {
                kept.push(b'1');
                exponent += 1;
            }
        }
    }
    while kept.len() > 1 && kept.last() == Some(&b'0') {
        kept.pop();
    }
    let kept = String::from_utf8(kept).unwrap_or_default();
    format!("{}{}", if negative { "-" } else { "" }, written(&kept, exponent))
}

/// `d.ddd` times ten to the `exponent`, in the form that [`plain`] has.
fn written(digits: &str, exponent: i32) -> String {
    let (first, rest) = digits.split_at(1);
    match exponent {
        -3..=-1 => format!("0.{}{digits}", "0".repeat((-1 - exponent) as usize)),
        0..=5 => {
            let whole = exponent as usize + 1;
            match digits.split_at_checked(whole) {
                Some((whole, "")) => whole.to_owned(),
                Some((whole, rest)) => format!("{whole}.{rest}"),
                None => format!("{digits}{}", "0".repeat(whole - digits.len())),
            }
        }
        _ if rest.is_empty() => format!("{first}e{exponent}"),
        _ => format!("{first}.{rest}e{exponent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::RandomSource;
    use dashu_int::UBig;
    use std::cmp::Ordering;

    /// Compares a printed decimal with a positive double in whole numbers: both are multiplied by the powers of ten and of two in
    /// their denominators.
    fn compare(printed: &str, value: f64) -> Ordering {
        let (mantissa, exponent) = printed.split_once('e').unwrap_or((printed, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: UBig = format!("{whole}{fraction}").parse().unwrap();
        let tens = exponent.parse::<i32>().unwrap() - fraction.len() as i32;
        let bits = value.to_bits();
        let (power, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        let (binary, twos) = if power == 0 { (fraction, -1074) } else { (fraction | 1 << 52, power - 1075) };
        let side = |number: UBig, multiply: [(u8, i32); 2]| {
            multiply
                .iter()
                .fold(number, |product, &(base, times)| product * UBig::from(base).pow(times.max(0) as usize))
        };
        side(digits, [(10, tens), (2, -twos)]).cmp(&side(UBig::from(binary), [(2, twos), (10, -tens)]))
    }

    /// One unit of the sixth digit below and above.
    fn one_unit_off(printed: &str) -> [String; 2] {
        let (mantissa, exponent) = printed.split_once('e').unwrap_or((printed, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let tens = exponent.parse::<i32>().unwrap() - fraction.len() as i32;
        let digits = format!("{whole}{fraction}");
        let digits = digits.trim_start_matches('0');
        let missing = DIGITS - digits.len().min(DIGITS);
        let number: u64 = format!("{digits}{}", "0".repeat(missing)).parse().unwrap();
        let tens = tens - missing as i32;
        // 1.00000 stands one unit of the decade below above 0.999999.
        let below =
            if number == 100_000 { format!("999999e{}", tens - 1) } else { format!("{}e{tens}", number - 1) };
        [below, format!("{}e{tens}", number + 1)]
    }

    /// Doubles of every size, of the sizes of privacy numbers, and next to decimals of few digits.
    fn doubles() -> Vec<f64> {
        let rng = &mut RandomSource::insecure_seeded(0x6465_6369_6d61_6c73);
        let mut all = vec![
            5e-324,
            1.5e-323,
            f64::MIN_POSITIVE,
            f64::MAX,
            0.1,
            0.3,
            1e-5,
            1e-6,
            0.00004,
            0.12344,
            9.999_999_9,
            999_999.96,
            31.447_299_999,
            1.0f64.next_up(),
            1.0f64.next_down(),
            0.1f64.next_up(),
            1e22,
            1e23,
        ];
        for _ in 0..2_000 {
            all.push(f64::from_bits(rng.next_u64() >> 1));
            // Between 2^-40 and 2^10.
            let exponent = 1023 - 40 + rng.below(50);
            all.push(f64::from_bits(exponent << 52 | rng.next_u64() >> 12));
            let few = format!("{}e-{}", 1 + rng.below(999_999), rng.below(12)).parse::<f64>().unwrap();
            all.extend([few, few.next_up(), few.next_down()]);
        }
        all.retain(|value| value.is_finite() && *value > 0.0);
        all
    }

    /// What a rule prints of a number is on its side of it in exact arithmetic, or reads back as it, and is nowhere a
    /// unit too far.
    fn is_safe(value: f64, printed: &str, side: Ordering) -> bool {
        if printed.parse::<f64>() == Ok(value) && printed == plain(value) {
            return true;
        }
        let closer = &one_unit_off(printed)[usize::from(side == Ordering::Less)];
        compare(printed, value) == side && compare(closer, value) == side.reverse()
    }

    #[test]
    fn printed_numbers_are_on_the_safe_side_in_exact_arithmetic() {
        let doubles = doubles();
        assert!(doubles.len() > 9_000);
        for &value in &doubles {
            let (up, down) = (rounded_up(value), rounded_down(value));
            assert!(is_safe(value, &up, Ordering::Greater), "{value:e}: {up}");
            assert!(is_safe(value, &down, Ordering::Less), "{value:e}: {down}");
            assert_eq!(rounded_up(-value), format!("-{down}"));
            let digits =
                |text: &str| text.split('e').next().unwrap_or("").replace('.', "").trim_matches('0').len();
            assert!(digits(&up) <= DIGITS && digits(&down) <= DIGITS, "{up} {down}");
        }
        // The nearest decimal is not good enough: half of them lie below.
        let nearest = |value: f64| format!("{value:.*e}", DIGITS - 1);
        let caught = doubles.iter().filter(|v| !is_safe(**v, &nearest(**v), Ordering::Greater)).count();
        assert!(caught > doubles.len() / 4, "{caught} of {}", doubles.len());
    }

    #[test]
    fn numbers_look_as_people_write_them() {
        for (value, text) in [
            (0.5, "0.5"),
            (0.1, "0.1"),
            (1e-5, "1e-5"),
            (0.0, "0"),
            (20.0, "20"),
            (0.000_04, "4e-5"),
            (0.123_44, "0.12344"),
            (0.123_440_1, "0.123441"),
            (0.001_000_000_01, "0.00100001"),
            (37.702_614_9, "37.7027"),
            (9.999_999_9, "10"),
            (99_999.99, "100000"),
            (999_999.96, "1e6"),
            (123_456.7, "123457"),
            (1_234_567.0, "1.23457e6"),
            (0.1 + 0.2, "0.300001"),
            (f64::MAX, "1.7977e308"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(rounded_up(value), text);
        }
        assert_eq!(rounded_down(37.702_614_9), "37.7026");
        assert_eq!(rounded_down(0.999_999_9), "0.999999");
        assert_eq!(rounded_down(100_000.05), "100000");
        assert_eq!(rounded_down_to(0.731_99, 4), "0.7319");
        assert_eq!(rounded_down_to(0.57, 4), "0.57");
        assert_eq!(rounded_up(f64::NAN), "NaN");
        assert_eq!([factor(0.5), factor(0.000_04)], ["e^0.5", "e^(4e-5)"]);
    }
}
