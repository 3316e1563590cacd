//! Hexadecimal digits.

/// Two lower-case digits for each byte.
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads pairs of digits of either case; `None` for anything else.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_bytes() {
        assert_eq!(encode(&[0, 10, 255]), "000aff");
        assert_eq!(decode("000AfF"), Some(vec![0, 10, 255]));
        assert_eq!(decode(""), Some(vec![]));
        for wrong in ["0", "0g", "+1", "é0"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
