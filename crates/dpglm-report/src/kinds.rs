//! What each kind of document becomes: the same sections for the same readers.

use crate::effects::{Effect, domain, effects};
use crate::page::{Block, Notice, Report, Section, Table};
use crate::source::{Document, Source};
use crate::{meaning, review};
use dpglm::accounting::Certificate;
use dpglm::families::Domain;
use dpglm_plot::forest::{Forest, Mark, Row};
use dpglm_plot::themed;
use dpglm_workflow::audit::report::{AuditDocument, FOR_WHOM};
use dpglm_workflow::describe::document::{DescribeDocument, Number};
use dpglm_workflow::document::{Artefact, FitDocument, MeanDocument};
use dpglm_workflow::render;
use dpglm_workflow::study::{STUDY_NOTE, StudyDocument};
use dpglm_workflow::table::{number, percent};
use indexmap::IndexMap;

/// So many findings are told in sentences; the table has all of them.
const SENTENCES: usize = 6;
/// So many estimates are drawn.
pub(crate) const DRAWN: usize = 40;
/// So many names are listed in a sentence.
const NAMED: usize = 12;

/// One document's part of a page.
pub(crate) fn report(place: usize, source: &Source) -> Report {
    let id = format!("r{}", place + 1);
    let (heading, notices, sections) = match &source.document {
        Document::Artefact(artefact) => {
            let (heading, found, table) = match artefact {
                Artefact::Fit(fit) => (fit.heading(), of_fit(fit), estimates_of_fit(fit)),
                Artefact::Mean(mean) => (mean.heading(), of_means(mean), estimates_of_means(mean)),
                Artefact::Describe(all) => (all.heading(), of_description(all), tables_of_description(all)),
            };
            let certificate = artefact.certificate();
            let sections = vec![
                Section { id: format!("{id}-found"), heading: "What was found", blocks: found },
                meaning::section(&id, certificate),
                Section { id: format!("{id}-estimates"), heading: "For the statistician", blocks: table },
                review::section(&id, certificate, Some(artefact)),
            ];
            (heading, meaning::notice(certificate).into_iter().collect(), sections)
        }
        Document::Plan(plan) => of_plan(&id, &plan.certificate),
        Document::Study(study) => of_study(&id, study),
        Document::Audit(audit) => of_audit(&id, audit),
    };
    Report { id, heading, source: source.name.clone(), notices, sections }
}

fn of_fit(fit: &FitDocument) -> Vec<Block> {
    let effects = effects(fit);
    let mut compared: Vec<&Effect> = effects.iter().filter(|effect| !effect.is_intercept()).collect();
    let count = compared.len();
    let (told, open): (Vec<&Effect>, Vec<&Effect>) =
        compared.iter().copied().partition(|e| e.is_told_from_zero());
    let mut blocks = Vec::new();
    if let Some(support) = &fit.support {
        blocks.push(Block::Text(format!(
            "Of {} columns these were chosen privately: {}. The coefficients of all others are taken to be zero.",
            fit.columns.len(),
            listed(support.iter())
        )));
    }
    if fit.intervals.is_some() {
        blocks.push(Block::Lead(format!(
            "Of {count} effects on {}, {} can be told from zero at this budget.{}",
            fit.target.name,
            told.len(),
            by_chance(fit.level, count)
        )));
    } else {
        blocks.push(Block::Lead(format!(
            "{count} effects on {} were estimated. There are no intervals, so nothing says how far the numbers are from the truth.",
            fit.target.name
        )));
    }
    compared.sort_by(|a, b| b.distance().total_cmp(&a.distance()));
    let best = compared.iter().filter(|e| e.is_told_from_zero() || (e.interval.is_none() && e.is_determined));
    let sentences: Vec<String> = best.take(SENTENCES).map(|effect| effect.sentence(fit)).collect();
    if !sentences.is_empty() {
        let heading = if told.len() > SENTENCES {
            "The clearest, other columns being equal:"
        } else {
            "Other columns being equal:"
        };
        blocks.push(Block::Text(heading.into()));
        blocks.push(Block::List(sentences));
    }
    let (unclear, hidden): (Vec<&Effect>, Vec<&Effect>) =
        open.into_iter().partition(|effect| effect.is_determined);
    if fit.intervals.is_some() && !unclear.is_empty() {
        blocks.push(Block::Text(format!(
            "Not told from zero: {}. That is no evidence that they are zero.",
            listed(unclear.iter().map(|e| &e.name))
        )));
    }
    if fit.intervals.is_some() && !hidden.is_empty() {
        blocks.push(Block::Text(format!(
            "Not determined, because noise hides them or the rows do not tell them apart: {}.",
            listed(hidden.iter().map(|e| &e.name))
        )));
    }
    blocks.push(Block::Text(
        "These are associations in the data. They do not say what would happen if something were changed."
            .into(),
    ));
    blocks.extend(forest(fit, &effects));
    blocks
}

/// How many of several effects would be told from zero though they are zero.
fn by_chance(level: Option<f64>, count: usize) -> String {
    match level {
        Some(level) if count > 1 && level < 1.0 => format!(
            " Each is judged by its own interval: of effects that are truly zero, about {} would be among them by chance.",
            percent(1.0 - level)
        ),
        _ => String::new(),
    }
}

/// All effects over their columns' public ranges, the largest if there are many.
fn forest(fit: &FitDocument, effects: &[Effect]) -> Option<Block> {
    let mut drawn: Vec<&Effect> = effects.iter().filter(|effect| !effect.is_intercept()).collect();
    if drawn.is_empty() {
        return None;
    }
    let count = drawn.len();
    if count > DRAWN {
        drawn.sort_by(|a, b| b.distance().total_cmp(&a.distance()));
        drawn.truncate(DRAWN);
    }
    let rows =
        drawn.into_iter().map(|effect| Row { name: effect.name.clone(), marks: vec![Some(effect.mark())] });
    let label = scale(fit);
    let title = format!("Effects on {} with their intervals", fit.target.name);
    let svg = Forest { title: &title, label, series: Vec::new(), rows: rows.collect() }.svg();
    Some(Block::Figure { svg: themed(&svg), caption: caption(fit, label, count) })
}

/// What effects are measured in.
pub(crate) fn scale(fit: &FitDocument) -> &'static str {
    match domain(fit) {
        _ if fit.survival.is_some() => "change of the logarithm of the hazard",
        Domain::Binary if fit.family.name() == "probit" => "change of the probit",
        Domain::Binary if fit.family.name() == "cloglog" => "change of the logarithm of the rate",
        Domain::Positive | Domain::Nonnegative => "change of the logarithm of the expected amount",
        Domain::Real => "change of the target",
        Domain::Binary | Domain::Classes(_) => "change of the log-odds",
        Domain::Count => "change of the logarithm of the expected count",
    }
}

fn caption(fit: &FitDocument, label: &str, count: usize) -> String {
    let lines = match fit.level {
        Some(level) if fit.intervals.is_some() => {
            format!("Lines are {} intervals, for sampling and privacy noise together. ", percent(level))
        }
        _ => String::new(),
    };
    let (all, label) = match count > DRAWN {
        true => (format!("The {DRAWN} clearest of {count}: "), label.to_owned()),
        false => (String::new(), render::sentence(label)),
    };
    format!(
        "{all}{label} from the lowest to the highest value of a number or term that the declared bounds allow, or from the reference level to another. {lines}The table below has \
         the coefficients for a step of 1."
    )
}

fn estimates_of_fit(fit: &FitDocument) -> Vec<Block> {
    let effects = effects(fit);
    let differs = fit.estimates.is_some();
    let mut headings = vec!["coefficient".to_owned(), "estimate".into()];
    let has_errors = fit.standard_errors.is_some();
    let level = fit.level.filter(|_| fit.intervals.is_some());
    headings.extend(has_errors.then(|| "std. error".to_owned()));
    if let Some(level) = level {
        headings.extend([format!("{} from", percent(level)), "to".into()]);
    }
    headings.extend(differs.then(|| "for prediction".to_owned()));
    let has_hidden = level.is_some() && effects.iter().any(|effect| !effect.is_determined);
    headings.extend(has_hidden.then(|| "determined".to_owned()));
    let row = |effect: &Effect| {
        let shown = |x: f64| number(x, effect.error);
        let mut cells = vec![effect.name.clone(), shown(effect.estimate)];
        cells.extend(has_errors.then(|| effect.error.map_or_else(String::new, shown)));
        if level.is_some() {
            let [low, high] = effect.interval.map_or_else(Default::default, |ends| ends.map(shown));
            cells.extend([low, high]);
        }
        let predicting = fit.coefficients.get(&effect.name).copied();
        cells.extend(differs.then(|| predicting.map_or_else(String::new, shown)));
        cells.extend(has_hidden.then(|| if effect.is_determined { "yes" } else { "no" }.to_owned()));
        cells
    };
    let mut blocks = vec![Block::Table(Table {
        caption: fit.heading(),
        headings,
        rows: effects.iter().map(row).collect(),
        is_numeric: true,
    })];
    let mut notes = vec![format!(
        "Method: {}. Coefficients are in the columns' own units: what a step of 1 changes in {}.",
        fit.method.name(),
        match (&fit.survival, fit.family.one_predictor()) {
            (Some(_), _) => "the logarithm of the hazard",
            (None, Some(family)) => family.predictor(),
            (None, None) => "the log-odds of a level against the first",
        }
    )];
    if has_errors {
        notes.push("Standard errors and intervals include the sampling error and the privacy noise, and are paid from the same budget.".into());
    }
    if fit.support.is_some() && level.is_some() {
        notes.push(match fit.split {
            Some(true) => "Intervals hold given the chosen columns, whichever they are: the rows they come from had no part in the choice.".into(),
            _ => "The rows that chose the columns were fitted, too: intervals of columns that chance chose miss far more often than they say.".into(),
        });
    }
    notes.extend(
        fit.notes_on_weights_and_dispersion().lines().filter(|line| !line.is_empty()).map(str::to_owned),
    );
    notes.extend(fit.notes_on_intervals().lines().filter(|line| !line.is_empty()).map(str::to_owned));
    let parameters = [
        ("ridge", fit.ridge),
        ("radius", fit.radius),
        ("row norm", fit.row_norm),
        ("l1 radius", fit.l1_radius),
        ("steps", fit.steps.map(|steps| steps as f64)),
        ("step length", fit.step_length),
        ("support norm", fit.support_norm),
    ];
    let given =
        parameters.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", render::plain(value?))));
    let given: Vec<String> = given.chain(fit.sparsity.map(|s| format!("sparsity {s}"))).collect();
    if !given.is_empty() {
        notes.push(format!("Parameters of the method: {}.", given.join(", ")));
    }
    blocks.push(Block::List(notes));
    blocks
}

fn of_means(mean: &MeanDocument) -> Vec<Block> {
    let said = |(name, estimate): (&String, &f64)| {
        let error = mean.standard_errors.as_ref().and_then(|all| all.get(name)).copied();
        let ends = mean.intervals.as_ref().and_then(|all| all.get(name));
        let interval = match (ends, mean.level) {
            (Some([low, high]), Some(level)) => {
                format!(" ({} interval {} to {})", percent(level), number(*low, error), number(*high, error))
            }
            _ => String::new(),
        };
        format!("The mean of {name} is {}{interval}.", number(*estimate, error))
    };
    let mut blocks = Vec::new();
    if let Some(support) = &mean.support {
        blocks.push(Block::Text(format!(
            "Of {} columns these were chosen privately: {}. The means of all others are taken to be zero.",
            mean.columns.len(),
            listed(support.iter())
        )));
    }
    if mean.intervals.is_none() {
        blocks.push(Block::Text(
            "There are no intervals, so nothing says how far the numbers are from the truth.".into(),
        ));
    }
    blocks.push(Block::List(mean.means.iter().take(SENTENCES).map(said).collect()));
    if mean.means.len() > SENTENCES {
        blocks.push(Block::Text(format!("The table below has all {} means.", mean.means.len())));
    }
    blocks.extend(forest_of_means(mean));
    blocks
}

/// Whether a mean is a share: of a level, whatever the group, `[sex=f]`, at the end of its name.
fn is_share(name: &str) -> bool {
    name.rsplit_once('[').map_or(name, |(column, _)| column).contains('=')
}

/// Means of columns on one scale; others cannot be drawn on one axis.
fn forest_of_means(mean: &MeanDocument) -> Option<Block> {
    let is_one_scale = mean.method.is_none() || mean.means.keys().all(|name| is_share(name));
    if !is_one_scale || mean.means.is_empty() {
        return None;
    }
    let row = |(name, &estimate): (&String, &f64)| {
        let error = mean.standard_errors.as_ref().and_then(|all| all.get(name)).copied();
        let interval = mean.intervals.as_ref().and_then(|all| all.get(name)).copied();
        let ends = interval.map(|ends| ends.map(|end| number(end, error)));
        let ends = ends.map_or_else(String::new, |[low, high]| format!(" [{low}, {high}]"));
        let mark = Mark { estimate, interval, is_determined: true, text: number(estimate, error) + &ends };
        Row { name: name.clone(), marks: vec![Some(mark)] }
    };
    let rows = mean.means.iter().take(DRAWN).map(row).collect();
    let svg = Forest { title: "Means with their intervals", label: "mean", series: Vec::new(), rows }.svg();
    let all = if mean.means.len() > DRAWN {
        format!(" The first {DRAWN} of {}.", mean.means.len())
    } else {
        String::new()
    };
    Some(Block::Figure { svg: themed(&svg), caption: format!("The means on one axis.{all}") })
}

fn estimates_of_means(mean: &MeanDocument) -> Vec<Block> {
    let mut headings = vec!["mean".to_owned(), "estimate".into()];
    headings.extend(mean.standard_errors.as_ref().map(|_| "std. error".to_owned()));
    let level = mean.level.filter(|_| mean.intervals.is_some());
    if let Some(level) = level {
        headings.extend([format!("{} from", percent(level)), "to".into()]);
    }
    let row = |(name, estimate): (&String, &f64)| {
        let error = mean.standard_errors.as_ref().and_then(|all| all.get(name)).copied();
        let mut cells = vec![name.clone(), number(*estimate, error)];
        if mean.standard_errors.is_some() {
            cells.push(error.map_or_else(String::new, |e| number(e, error)));
        }
        if level.is_some() {
            let ends = mean.intervals.as_ref().and_then(|all| all.get(name));
            cells.extend(ends.map_or_else(Default::default, |ends| ends.map(|end| number(end, error))));
        }
        cells
    };
    let mut blocks = vec![Block::Table(Table {
        caption: mean.heading(),
        headings,
        rows: mean.means.iter().map(row).collect(),
        is_numeric: true,
    })];
    let shares = |caption: &str, shares: &IndexMap<String, f64>| {
        Block::Table(Table {
            caption: caption.into(),
            headings: vec![String::new(), "share".into()],
            rows: shares.iter().map(|(name, share)| vec![name.clone(), number(*share, None)]).collect(),
            is_numeric: true,
        })
    };
    blocks.extend(
        mean.groups.as_ref().map(|all| shares("Each group's share of the rows, or of their weight", all)),
    );
    blocks.extend(mean.observed.as_ref().map(|all| shares("The share of rows with a value", all)));
    let mut notes = Vec::new();
    if mean.standard_errors.is_some() {
        notes.push("Standard errors and intervals include the sampling error and the privacy noise, and are paid from the same budget.".to_owned());
    }
    notes.extend(mean.sample_weight.as_ref().map(|column| format!("Rows are weighted by {column}.")));
    notes.extend(
        mean.unit.as_ref().map(|column| format!("Each {column} counts as one row, the mean of its rows.")),
    );
    if mean.support.is_some() && level.is_some() {
        notes.push("The rows that chose the columns were fitted, too: intervals of columns that chance chose miss far more often than they say.".into());
    }
    blocks.push(Block::List(notes));
    blocks.retain(|block| !matches!(block, Block::List(items) if items.is_empty()));
    blocks
}

fn of_description(description: &DescribeDocument) -> Vec<Block> {
    let interval =
        |number: &Number| format!("{} interval in brackets: {}", description.percent(), number.text());
    let mut sentences = Vec::new();
    for (group, name) in description.groups.iter().zip(description.names()) {
        let of = if description.by.is_some() { format!(" in {name}") } else { String::new() };
        for (column, found) in &group.columns {
            if let Some(mean) = &found.mean {
                sentences.push(format!("The mean of {column}{of} ({}).", interval(mean)));
            }
            let most = found.levels.iter().flatten().max_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate));
            if let Some((level, share)) = most {
                sentences.push(format!(
                    "The most frequent level of {column}{of} is {level} (share, {}).",
                    interval(share)
                ));
            }
        }
    }
    sentences.truncate(2 * SENTENCES);
    vec![
        Block::List(sentences),
        Block::Text("The tables below have every statistic. Intervals include the sampling error and the privacy noise.".into()),
        Block::Figure {
            svg: themed(&description.svg()),
            caption: "Histograms and shares of levels, with their intervals.".into(),
        },
    ]
    .into_iter()
    .filter(|block| match block {
        Block::Figure { .. } => description.is_drawn(),
        Block::List(items) => !items.is_empty(),
        _ => true,
    })
    .collect()
}

fn tables_of_description(description: &DescribeDocument) -> Vec<Block> {
    let tables = description.tables().into_iter().map(|(caption, mut rows)| {
        let headings = if rows.is_empty() { Vec::new() } else { rows.remove(0) };
        Block::Table(Table { caption: render::sentence(&caption), headings, rows, is_numeric: true })
    });
    tables.collect()
}

fn of_plan(id: &str, certificate: &Certificate) -> (String, Vec<Notice>, Vec<Section>) {
    let mut notices = vec![Notice {
        is_grave: false,
        heading: "This is a plan".into(),
        text: "No cell was read, nothing was released and nothing was spent. It says what a run would release and promise.".into(),
    }];
    notices.extend(meaning::notice(certificate));
    let sections = vec![meaning::section(id, certificate), review::section(id, certificate, None)];
    ("Plan of a release".into(), notices, sections)
}

fn of_study(id: &str, study: &StudyDocument) -> (String, Vec<Notice>, Vec<Section>) {
    let notice = Notice {
        is_grave: false,
        heading: "This is a plan".into(),
        text: "It was made by simulation: no file was read and nothing was spent.".into(),
    };
    let lines = study.lines();
    let blocks = vec![
        Block::Lead(format!(
            "With {} rows and epsilon {} the expected squared error is {}.",
            study.rows,
            render::rounded_up(study.epsilon),
            number(study.error, None)
        )),
        Block::Table(Table {
            caption: "The plan".into(),
            headings: Vec::new(),
            rows: lines,
            is_numeric: false,
        }),
        Block::Text(STUDY_NOTE.into()),
    ];
    let section = Section { id: format!("{id}-found"), heading: "What to expect", blocks };
    ("Plan of a study".into(), vec![notice], vec![section])
}

fn of_audit(id: &str, audit: &AuditDocument) -> (String, Vec<Notice>, Vec<Section>) {
    let notice = Notice {
        is_grave: true,
        heading: "Not for publication".into(),
        text: render::sentence(FOR_WHOM) + ".",
    };
    let mut blocks: Vec<Block> = audit.verdict().into_iter().map(Block::Text).collect();
    if let Some(Block::Text(first)) = blocks.first_mut() {
        blocks[0] = Block::Lead(std::mem::take(first));
    }
    blocks.push(Block::Table(Table {
        caption: "What was claimed, and what attacks proved".into(),
        headings: Vec::new(),
        rows: audit.lines(),
        is_numeric: false,
    }));
    let section = Section { id: format!("{id}-found"), heading: "What attacks found", blocks };
    (audit.heading(), vec![notice], vec![section])
}

/// Names in a sentence; of many the first.
fn listed<'n>(names: impl ExactSizeIterator<Item = &'n String>) -> String {
    let count = names.len();
    let first: Vec<&str> = names.take(NAMED).map(String::as_str).collect();
    match count - first.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
