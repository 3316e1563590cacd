//! A description for readers: statistics down, groups across; and bars in the terminal.

use super::document::{ColumnDocument, DescribeDocument, Number};
use crate::render;

/// Significant digits of half an interval; the estimate and the ends have as many decimals.
const DIGITS: i32 = 2;
/// The width of the largest bar.
const BAR: f64 = 40.0;

impl Number {
    /// "38.58 [38.41, 38.75]".
    pub fn text(&self) -> String {
        let [low, high] = self.interval;
        let half = 0.5 * (high - low);
        let digits = half > 0.0 && half.is_finite();
        let decimals =
            if digits { (DIGITS - 1 - half.log10().floor() as i32).clamp(0, 12) as usize } else { 0 };
        let shown = |x: f64| {
            if !digits {
                return render::rounded(x);
            }
            let text = if x.abs() < 1e12 { format!("{x:.decimals$}") } else { format!("{x:.4e}") };
            if text.parse() == Ok(0.0) { text.replace('-', "") } else { text }
        };
        format!("{} [{}, {}]", shown(self.estimate), shown(low), shown(high))
    }
}

/// The statistics of a column with their names.
fn statistics(column: &ColumnDocument) -> Vec<(&str, Option<&Number>)> {
    let mut all = vec![
        ("mean", column.mean.as_ref()),
        ("standard deviation", column.deviation.as_ref()),
        ("first quartile", column.first_quartile.as_ref()),
        ("median", column.median.as_ref()),
        ("third quartile", column.third_quartile.as_ref()),
    ];
    all.extend(column.levels.iter().flatten().map(|(name, share)| (name.as_str(), Some(share))));
    all.push(("missing", column.missing.as_ref()));
    all.retain(|(_, number)| number.is_some());
    all
}

impl DescribeDocument {
    /// What the tables are about.
    pub fn heading(&self) -> String {
        let by = self.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
        format!("Description of {} rows{by}; in brackets {} intervals", self.n, self.percent())
    }

    /// The tables, each under what it shows: statistics down, groups across; then cross tables and correlations. Headings first.
    pub fn tables(&self) -> Vec<(String, Vec<Vec<String>>)> {
        let mut rows = vec![std::iter::once(String::new()).chain(self.names()).collect::<Vec<_>>()];
        if self.by.is_some() {
            let share = |g: &super::document::GroupDocument| g.share.map_or_else(String::new, |s| s.text());
            rows.push(
                std::iter::once("share of rows".to_owned()).chain(self.groups.iter().map(share)).collect(),
            );
        }
        for (place, (name, column)) in self.groups.iter().take(1).flat_map(|g| &g.columns).enumerate() {
            let cells = std::iter::repeat_n(String::new(), self.groups.len());
            rows.push(std::iter::once(name.clone()).chain(cells).collect());
            if let Some([low, high]) = column.bounds {
                let found = format!("{} to {}", render::rounded(low), render::rounded(high));
                let cells = std::iter::repeat_n(found, self.groups.len());
                rows.push(std::iter::once("  bounds found".to_owned()).chain(cells).collect());
            }
            for (at, (statistic, _)) in statistics(column).iter().enumerate() {
                let of_group = |group: &super::document::GroupDocument| {
                    let found = group.columns.get_index(place).map(|(_, column)| statistics(column));
                    found
                        .and_then(|all| all.get(at).and_then(|(_, n)| n.map(Number::text)))
                        .unwrap_or_default()
                };
                rows.push(
                    std::iter::once(format!("  {statistic}"))
                        .chain(self.groups.iter().map(of_group))
                        .collect(),
                );
            }
        }
        let mut tables = vec![(self.heading(), rows)];
        for (group, name) in self.groups.iter().zip(self.names()) {
            if let Some(cross) = &group.cross {
                let [down, along] = &cross.columns;
                let mut rows =
                    vec![std::iter::once(String::new()).chain(cross.across.clone()).collect::<Vec<_>>()];
                for (level, shares) in cross.rows.iter().zip(&cross.shares) {
                    rows.push(
                        std::iter::once(level.clone()).chain(shares.iter().map(Number::text)).collect(),
                    );
                }
                tables.push((format!("Shares of {down} (down) and {along} (across), {name}"), rows));
            }
            if let Some(found) = &group.correlations {
                let headings = &found.columns[..found.columns.len().saturating_sub(1)];
                let mut rows =
                    vec![std::iter::once(String::new()).chain(headings.to_vec()).collect::<Vec<_>>()];
                // Below the diagonal.
                for (i, row) in found.matrix.iter().enumerate().skip(1) {
                    let cell = |j: usize| if j < i { row[j].text() } else { String::new() };
                    rows.push(
                        std::iter::once(found.columns[i].clone())
                            .chain((0..headings.len()).map(cell))
                            .collect(),
                    );
                }
                tables.push((format!("Correlations, {name}"), rows));
            }
        }
        tables
    }

    /// The heading and the tables.
    pub fn table(&self) -> String {
        let shown =
            |(heading, rows): &(String, Vec<Vec<String>>)| format!("{heading}\n\n{}", render::table(rows));
        self.tables().iter().map(shown).collect::<Vec<_>>().join("\n")
    }

    /// Histograms and shares as bars of text; the thin line behind a bar is its interval.
    pub fn bars(&self) -> String {
        let mut text = String::new();
        for (group, name) in self.groups.iter().zip(self.names()) {
            for (column, document) in &group.columns {
                let shares: Vec<(String, Number)> = match (&document.histogram, &document.levels) {
                    (Some(histogram), _) => {
                        let edge = |k: usize| render::rounded(histogram.edges[k]);
                        let label = |k: usize| format!("{} to {}", edge(k), edge(k + 1));
                        histogram.shares.iter().enumerate().map(|(k, share)| (label(k), *share)).collect()
                    }
                    (None, Some(levels)) => {
                        levels.iter().map(|(name, share)| (name.clone(), *share)).collect()
                    }
                    (None, None) => continue,
                };
                let of = if self.by.is_some() { format!(", {name}") } else { String::new() };
                text += &format!("\n{column}{of}\n");
                text += &bars(&shares);
            }
        }
        text
    }
}

/// One bar a line.
fn bars(shares: &[(String, Number)]) -> String {
    let width = shares.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let largest = shares.iter().map(|(_, share)| share.interval[1]).fold(1e-300, f64::max);
    let cells = |share: f64| (BAR * share / largest).round() as usize;
    shares
        .iter()
        .map(|(label, share)| {
            let (low, end, high) =
                (cells(share.interval[0]), cells(share.estimate), cells(share.interval[1]));
            let mark = |k: usize| match (k < end, k >= low && k < high) {
                (true, false) => '█',
                (true, true) => '▓',
                (false, true) => '░',
                (false, false) => ' ',
            };
            let bar: String = (0..high.max(end)).map(mark).collect();
            format!("  {label:>width$} {} {:.1}%\n", bar.trim_end(), 100.0 * share.estimate)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_of_their_intervals() {
        let number = |estimate: f64, low: f64, high: f64| Number { estimate, interval: [low, high] };
        assert_eq!(number(38.5816, 38.41, 38.752).text(), "38.58 [38.41, 38.75]");
        assert_eq!(number(1078.6, 700.0, 1500.0).text(), "1079 [700, 1500]");
        assert_eq!(number(37.0, 37.0, 37.0).text(), "37 [37, 37]");
        assert_eq!(number(-0.0001, -0.01, 0.01).text(), "0.000 [-0.010, 0.010]");
    }

    #[test]
    fn bars_show_shares_and_intervals() {
        let share = |estimate: f64| Number { estimate, interval: [estimate - 0.1, estimate + 0.1] };
        let text = bars(&[("a".into(), share(0.7)), ("long".into(), share(0.3))]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("     a {}{}{} 70.0%", "█".repeat(30), "▓".repeat(5), "░".repeat(5)));
        assert!(lines[1].starts_with("  long █"), "{text}");
    }
}
