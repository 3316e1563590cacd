//! The README is true: its example runs as printed, and its commands print what it says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::Path;

mod example {
    include!("readme/example.rs");

    pub fn run() -> dpglm::Result<()> {
        main()
    }
}

fn readme() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap()
}

#[test]
fn example_runs_as_printed() {
    let example = include_str!("readme/example.rs");
    assert!(readme().contains(example), "the README's example is not tests/readme/example.rs");
    example::run().unwrap();
}

#[test]
fn commands_print_what_it_says() {
    let cargo = "$ cargo run -q --release -p dpglm-cli -- ";
    let readme = readme();
    assert!(readme.contains(cargo), "the README no longer shows how to run the command");
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("README.md");
    std::fs::write(&copy, readme.replace(cargo, "$ dpglm ")).unwrap();
    trycmd::TestCases::new().case(&copy);
}
