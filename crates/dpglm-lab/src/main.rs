//! The command `dpglm-lab`: runs the papers' figures again, and reports.

use clap::{Parser, Subcommand};
use dpglm_lab::figure::Figure;
use dpglm_lab::progress::in_words;
use dpglm_lab::results::{self, FigureResult};
use dpglm_lab::runner::{self, Extent, Machine};
use dpglm_lab::{Result, figures, page, plot};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// The papers' figures and tables again: as printed, and with the certified methods
#[derive(Parser)]
#[command(name = "dpglm-lab", version, term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the figures
    List,
    /// Run figures; finished parts are kept, so a stopped run goes on where it was
    Run(Run),
    /// Gather the results into docs/reproduction.md, its results file and drawings, and one HTML page
    Report(Report),
}

#[derive(clap::Args)]
struct Run {
    /// Keys of figures, their beginnings (c20 for all of that paper), or all
    #[arg(required = true)]
    keys: Vec<String>,
    /// Few repetitions, fewer points
    #[arg(long, conflicts_with = "full", required_unless_present = "full")]
    quick: bool,
    /// The papers' repetitions
    #[arg(long)]
    full: bool,
    /// Where finished parts are kept
    #[arg(long, default_value = "lab-results")]
    results: PathBuf,
    /// Repetitions at the same time; by default one a core
    #[arg(long)]
    threads: Option<usize>,
    /// Gigabytes for all repetitions together; one that needs more runs alone
    #[arg(long, default_value_t = 4.5)]
    memory: f64,
    /// At most this many repetitions of every point
    #[arg(long)]
    repetitions: Option<u32>,
    /// Forget what these figures have computed before
    #[arg(long)]
    fresh: bool,
}

#[derive(clap::Args)]
struct Report {
    /// Where `run` kept its results
    #[arg(long, default_value = "lab-results")]
    results: PathBuf,
    /// The folder of the documentation
    #[arg(long, default_value = "docs")]
    docs: PathBuf,
    /// Another results file whose figures are taken in as well
    #[arg(long)]
    add: Vec<PathBuf>,
    /// Where the HTML page is written; by default among the results
    #[arg(long)]
    html: Option<PathBuf>,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::List => list(),
        Command::Run(arguments) => run(&arguments),
        Command::Report(arguments) => report(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // If even the error stream is closed, the exit code still tells.
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn list() -> Result<()> {
    let mut out = std::io::stdout().lock();
    for figure in figures::all() {
        writeln!(out, "{:<12} {}", figure.key, figure.title)?;
    }
    Ok(())
}

/// The figures that the keys name.
fn chosen(keys: &[String]) -> Result<Vec<Figure>> {
    for key in keys {
        if key != "all" && !figures::all().iter().any(|f| f.key.starts_with(key.as_str())) {
            return Err(format!("no figure is called {key}: `dpglm-lab list` names them").into());
        }
    }
    let wanted = |f: &Figure| keys.iter().any(|k| k == "all" || f.key.starts_with(k.as_str()));
    Ok(figures::all().into_iter().filter(wanted).collect())
}

fn run(arguments: &Run) -> Result<()> {
    let extent = if arguments.quick { Extent::Quick } else { Extent::Full };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let machine = Machine {
        threads: arguments.threads.unwrap_or(cores),
        memory: arguments.memory,
        repetitions: arguments.repetitions,
    };
    let folder = &arguments.results;
    for figure in chosen(&arguments.keys)? {
        if arguments.fresh {
            let path = dpglm_lab::journal::path(folder, figure.key);
            if path.exists() {
                std::fs::remove_file(&path).map_err(|e| format!("{}: cannot remove: {e}", path.display()))?;
            }
        }
        let start = Instant::now();
        let records = runner::run(&figure, extent, folder, machine)?;
        let result = FigureResult::of(&figure, extent, &records)?;
        write(&folder.join(format!("{}.json", figure.key)), &results::text(std::slice::from_ref(&result))?)?;
        write(&folder.join(format!("{}.svg", figure.key)), &plot::svg(&result))?;
        let mut out = std::io::stdout().lock();
        writeln!(
            out,
            "{} ({}): {}. {}",
            figure.key,
            in_words(start.elapsed().as_secs_f64()),
            result.verdict.outcome.words(),
            page::capital(&result.verdict.because)
        )?;
    }
    Ok(())
}

fn report(arguments: &Report) -> Result<()> {
    let folder = arguments.docs.join("reproduction");
    let file = folder.join("results.json");
    let mut all = results::read(&file)?;
    for other in &arguments.add {
        if !other.exists() {
            return Err(format!("{}: there is no such file", other.display()).into());
        }
        all = results::merged(all, results::read(other)?);
    }
    for figure in figures::all() {
        all = results::merged(all, results::read(&arguments.results.join(format!("{}.json", figure.key)))?);
    }
    if all.is_empty() {
        return Err("there are no results yet: `dpglm-lab run all --quick` makes some".into());
    }
    write(&file, &results::text(&all)?)?;
    for figure in &all {
        write(&folder.join(format!("{}.svg", figure.key)), &plot::svg(figure))?;
    }
    write(&arguments.docs.join("reproduction.md"), &page::markdown(&all))?;
    let html = arguments.html.clone().unwrap_or_else(|| arguments.results.join("report.html"));
    write(&html, &page::html::page(&all))?;
    writeln!(std::io::stdout(), "{} figures; the page is {}", all.len(), html.display())?;
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: cannot make: {e}", folder.display()))?;
    }
    std::fs::write(path, text).map_err(|e| format!("{}: cannot write: {e}", path.display()).into())
}
