//! The section that says what a promise means, and the notices that nobody may overlook.

use crate::page::{Block, Notice, Section, Table};
use crate::promise::{Meaning, percent_up};
use dpglm::accounting::{Certificate, Grade};
use dpglm::privacy::Adjacency;
use dpglm::privacy::decimal::rounded_up;

/// For the decision maker.
pub(crate) fn section(id: &str, certificate: &Certificate) -> Section {
    Section { id: format!("{id}-promise"), heading: "What the promise means", blocks: blocks(certificate) }
}

fn blocks(certificate: &Certificate) -> Vec<Block> {
    let Some(meaning) = Meaning::of(certificate) else {
        return vec![
            Block::Lead("Nothing is promised. Whoever sees these numbers may learn anything about anybody in the data.".into()),
            Block::Text(certificate.to_string()),
        ];
    };
    let whose = whose(certificate.adjacency());
    let provided = match certificate.grade() {
        Grade::Conditional(_) => "If the assumptions above are true, an attacker",
        _ => "An attacker",
    };
    let exception = exception(&meaning);
    let protected = match certificate.is_of_rows_made() {
        true => "one row of the table, with all rows that are made of it".into(),
        false => certificate.adjacency().protected(),
    };
    vec![
        Block::Lead(format!(
            "{provided} who was 50% sure of something about {whose} can become at most {} sure of it by seeing these results{exception}.",
            percent_up(meaning.sure(0.5))
        )),
        Block::Text(format!(
            "The attacker may know every other row of the data and have any computer. What is protected is {protected}: it is compared with any other in \
             its place. What the results say about people in general is not protected, and is what they are for."
        )),
        Block::Table(Table {
            caption: format!("How sure an attacker can become{exception}"),
            headings: vec!["sure before".into(), "sure after, at most".into()],
            rows: meaning.table().into_iter().map(Vec::from).collect(),
            is_numeric: true,
        }),
        Block::Text(format!(
            "Who must tell from the results which of two equally likely values is the true one is right at most {} of the time; a coin is right \
             half the time. The bound on the membership advantage (members found less others taken for members) is {}.",
            percent_up(meaning.right()),
            percent_up(meaning.advantage)
        )),
        Block::Text(
            "These numbers are bounds, computed from the certificate's privacy curve and rounded up: no attack can do better, and most do worse. \
             They hold for these results alone: other results from the same people add to them."
                .into(),
        ),
    ]
}

/// How often what is said may fail.
pub(crate) fn exception(meaning: &Meaning) -> String {
    match meaning.exception {
        0.0 => ", whatever the results".to_owned(),
        chance => format!(", but for a chance of at most {}", one_in(chance)),
    }
}

/// Whose secret it is, in a sentence.
fn whose(adjacency: &Adjacency) -> String {
    match adjacency {
        Adjacency::ReplaceRow => "one person's row".into(),
        Adjacency::ReplaceUnit(column) => format!("all rows of one {column}"),
        Adjacency::ReplaceUserRecord => "one user's record".into(),
        Adjacency::ReplaceUserLabel => "one user's label".into(),
        Adjacency::ReplacePair => "one row, which describes two people".into(),
    }
}

/// A small probability as people say it, never below it: "1 in 1,000,000".
fn one_in(chance: f64) -> String {
    let times = (1.0 / chance * (1.0 - 1e-12)).floor();
    // 1 / 1e-6 is not quite a million in binary.
    let times = if (1.0 / (times + 1.0)) >= chance { times + 1.0 } else { times };
    if !(2.0..1e9).contains(&times) {
        return rounded_up(chance);
    }
    let digits = format!("{times:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    format!("1 in {text}")
}

/// What takes a promise back, or on what it rests.
pub(crate) fn notice(certificate: &Certificate) -> Option<Notice> {
    match certificate.grade() {
        Grade::Certified => None,
        Grade::Conditional(assumptions) => Some(Notice {
            is_grave: false,
            heading: "The promise is conditional".into(),
            text: format!(
                "It holds only if {}. Nothing enforces this: where it is not true, nothing is promised.",
                assumptions.join(", and if ")
            ),
        }),
        Grade::None(reason) => Some(Notice {
            is_grave: true,
            heading: "No privacy is promised".into(),
            text: format!(
                "Reason: {reason}. Whoever sees these numbers may learn anything about anybody in the data. Do not publish them as private."
            ),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_never_printed_below_what_they_are() {
        for (chance, text) in [
            (1e-6, "1 in 1,000,000"),
            (1e-5, "1 in 100,000"),
            (3e-7, "1 in 3,333,333"),
            (0.4, "1 in 2"),
            (0.6, "0.6"),
            (1e-12, "1e-12"),
        ] {
            assert_eq!(one_in(chance), text);
        }
    }
}
