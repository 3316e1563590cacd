//! Histograms and bars with error bars as SVG, and the whole description as one HTML page that needs nothing else.

use super::document::{DescribeDocument, Number};
use dpglm_plot::bars::{Panel, Share, panels};
use dpglm_plot::escaped;

impl From<&Number> for Share {
    fn from(number: &Number) -> Self {
        Self { estimate: number.estimate, interval: number.interval, text: number.text() }
    }
}

impl DescribeDocument {
    fn panels(&self) -> Vec<Panel> {
        let mut panels = Vec::new();
        for (group, name) in self.groups.iter().zip(self.names()) {
            for (column, document) in &group.columns {
                let title = if self.by.is_some() { format!("{column}, {name}") } else { column.clone() };
                if let Some(found) = &document.histogram {
                    let shares: Vec<Share> = found.shares.iter().map(Share::from).collect();
                    panels.push(Panel::histogram(&title, &found.edges, &shares));
                }
                if let Some(levels) = &document.levels {
                    let levels: Vec<(&str, Share)> =
                        levels.iter().map(|(level, share)| (level.as_str(), share.into())).collect();
                    panels.push(Panel::levels(&title, &levels));
                }
            }
        }
        panels
    }

    /// Whether there is anything to draw.
    pub fn is_drawn(&self) -> bool {
        self.groups
            .iter()
            .flat_map(|g| g.columns.values())
            .any(|c| c.histogram.is_some() || c.levels.is_some())
    }

    /// All histograms and bars, two beside each other.
    pub fn svg(&self) -> String {
        let note = format!(
            "Shares of {} rows; lines are {} intervals, for sampling and privacy noise",
            self.n,
            self.percent()
        );
        panels("Private histograms and shares of levels", &self.panels(), &note)
    }

    /// One page: the tables, the drawings and the promise.
    pub fn html(&self) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Description of {} rows</title>\n\
             <style>body{{font-family:Helvetica,Arial,sans-serif;margin:2em;color:#222}}pre{{font-size:13px}}</style>\n</head>\n<body>\n\
             {}</body>\n</html>\n",
            self.n,
            self.fragment()
        )
    }

    /// What stands in the page's body.
    pub fn fragment(&self) -> String {
        let drawing = if self.is_drawn() { self.svg() } else { String::new() };
        format!(
            "<pre>{}</pre>\n{drawing}<p>{}</p>\n",
            escaped(&self.table()),
            escaped(&self.certificate.to_string())
        )
    }
}
