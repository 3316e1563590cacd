//! The page as plain data: what every kind of document is turned into, and the one template that shows it.

use askama::Template;

/// A page.
#[derive(Template)]
#[template(path = "page.html")]
pub(crate) struct Page {
    pub title: String,
    /// Of documents on one page; empty for a single one.
    pub comparison: Vec<Section>,
    pub reports: Vec<Report>,
    pub version: &'static str,
}

impl Page {
    /// Of the sections' headings: below the page's, and below each document's own if there are several.
    fn level(&self) -> usize {
        if self.reports.len() == 1 { 2 } else { 3 }
    }
}

/// One document's part of the page.
pub(crate) struct Report {
    /// The start of every id in it.
    pub id: String,
    pub heading: String,
    /// The name of its file.
    pub source: String,
    /// What nobody may overlook, before anything else.
    pub notices: Vec<Notice>,
    pub sections: Vec<Section>,
}

/// What nobody may overlook.
pub(crate) struct Notice {
    /// Whether it takes the promise back, or forbids publication.
    pub is_grave: bool,
    pub heading: String,
    pub text: String,
}

/// For one reader.
pub(crate) struct Section {
    pub id: String,
    pub heading: &'static str,
    pub blocks: Vec<Block>,
}

/// What a section is made of.
pub(crate) enum Block {
    Heading(String),
    Text(String),
    /// The most important sentence of a section.
    Lead(String),
    List(Vec<String>),
    Table(Table),
    /// A drawing, and what is said below it.
    Figure {
        svg: String,
        caption: String,
    },
    Points(Vec<Point>),
    /// JSON for programs.
    Data {
        id: String,
        summary: &'static str,
        json: String,
    },
}

/// A table. The first cell of each row is its name.
pub(crate) struct Table {
    pub caption: String,
    pub headings: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// Whether cells are numbers, which end at the right.
    pub is_numeric: bool,
}

/// What a reviewer asks, and the answer.
pub(crate) struct Point {
    pub term: &'static str,
    pub answers: Vec<String>,
    /// To be answered by the curator: there is room to write.
    pub is_open: bool,
}

impl Point {
    pub(crate) fn new(term: &'static str, answers: Vec<String>) -> Self {
        Self { term, answers, is_open: false }
    }
}

/// JSON that may stand inside a page's element for data: nothing in it ends the element.
pub(crate) fn inert(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
