//! Tables of words for people.

/// Columns of equal width, two spaces apart; a column that is empty but for its heading is left out.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let shown: Vec<usize> =
        (0..columns).filter(|&c| rows.len() == 1 || rows[1..].iter().any(|row| !row[c].is_empty())).collect();
    let width = |c: usize| rows.iter().map(|row| row[c].chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let line: Vec<String> = shown.iter().map(|&c| format!("{:<1$}", row[c], width(c))).collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text
}
