//! The static HTML page: claim, what the literal algorithm gives, what the certified one gives, verdict.

use super::{beats, capital, epsilon, number, ratio};
use crate::figure::Promise;
use crate::plot::svg;
use crate::results::{FigureResult, LineResult};
use dpglm_plot::escaped;
use std::fmt::Write;

const STYLE: &str = "body{font:16px/1.5 Georgia,serif;max-width:960px;margin:2em auto;padding:0 1em;color:#222}\
h1,h2{line-height:1.2}table{border-collapse:collapse;font:13px/1.4 Helvetica,Arial,sans-serif;margin:1em 0;display:block;overflow-x:auto}\
td,th{border-bottom:1px solid #ddd;padding:.25em .7em;text-align:left;vertical-align:top}th{border-bottom:2px solid #888}\
svg{max-width:100%;height:auto}.holds{color:#00664a}.only_certified{color:#0060a0}.does_not_hold{color:#a84400}\
details{margin:1em 0}summary{cursor:pointer}";

/// The whole page, drawings included.
pub fn page(figures: &[FigureResult]) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>The papers' figures again</title><style>{STYLE}</style></head><body>\n<h1>The papers' figures again</h1>\n\
         <p>Each experiment runs three ways on the same rows: the paper's algorithm with the paper's noise (literal), the certified \
         product at the same (epsilon, delta), and without privacy. A literal run is given the epsilon that it truly has by the \
         accountant, for rows within the paper's bounds; where that differs, the product also runs at that epsilon. Error bars are one \
         standard error.</p>\n<ol>\n"
    );
    for figure in figures {
        let _ = writeln!(
            page,
            "<li><a href=\"#{0}\">{1}</a>: <span class=\"{2}\">{3}</span></li>",
            figure.key,
            escaped(&figure.title),
            class(figure),
            figure.verdict.outcome.words()
        );
    }
    page.push_str("</ol>\n");
    for figure in figures {
        section(&mut page, figure);
    }
    page.push_str("</body></html>\n");
    page
}

fn class(figure: &FigureResult) -> &'static str {
    use crate::verdict::Outcome;
    match figure.verdict.outcome {
        Outcome::Holds => "holds",
        Outcome::OnlyCertified => "only_certified",
        Outcome::DoesNotHold => "does_not_hold",
    }
}

fn section(page: &mut String, figure: &FigureResult) {
    let _ = write!(
        page,
        "<h2 id=\"{}\">{}</h2>\n<p><b>The paper's claim.</b> {}</p>\n<p><b>Verdict:</b> <span class=\"{}\">{}</span>. {} {}</p>\n{}\n\
         <p>Measured: {}. Rows: {}. Repetitions: {}.</p>\n",
        figure.key,
        escaped(&figure.title),
        escaped(&figure.claim),
        class(figure),
        figure.verdict.outcome.words(),
        escaped(&capital(&figure.verdict.because)),
        escaped(&beats(figure)),
        svg(figure),
        escaped(&figure.y),
        escaped(&figure.data),
        figure.repetitions()
    );
    table(page, figure);
    page.push_str("<details><summary>Choices that the paper leaves open</summary><ul>\n");
    for choice in &figure.choices {
        let _ = writeln!(page, "<li>{}</li>", escaped(choice));
    }
    page.push_str("</ul></details>\n");
}

/// Every line at every point.
fn table(page: &mut String, figure: &FigureResult) {
    let _ = writeln!(
        page,
        "<table><tr><th>{}</th><th>line</th><th>mean (standard error)</th><th>epsilon stated</th><th>epsilon true</th>\
         <th>certified / non-private</th></tr>",
        escaped(&figure.x)
    );
    for point in &figure.points {
        for (i, line) in point.lines.iter().enumerate() {
            let (name, share) = if i == 0 {
                (escaped(&point.name), ratio(figure, point))
            } else {
                (String::new(), String::new())
            };
            let _ = writeln!(
                page,
                "<tr><td>{name}</td><td>{}</td><td>{}</td>{}<td>{share}</td></tr>",
                escaped(&line.line),
                number(line),
                promised(line)
            );
        }
    }
    page.push_str("</table>\n");
}

fn promised(line: &LineResult) -> String {
    match &line.promise {
        None => "<td></td><td></td>".into(),
        Some(Promise { epsilon: stated, truly, because, .. }) => format!(
            "<td>{}</td><td title=\"{}\">{}</td>",
            epsilon(*stated),
            escaped(because),
            truly.map_or_else(|| "none".into(), epsilon)
        ),
    }
}
