//! Roles are apart: a device builds no server and no database, nor does the Python package.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::process::Command;

/// The crates that a package is built from.
fn tree(arguments: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

const SERVER: [&str; 6] = ["axum", "hyper", "tokio", "rusqlite", "libsqlite3-sys", "postgres"];

#[test]
fn a_device_builds_no_server_and_no_database() {
    for arguments in [
        &["-p", "dpglm-py", "--features", "collect"][..],
        &["-p", "dpglm-cli", "--no-default-features", "--features", "device"],
        &["-p", "dpglm-collect", "--no-default-features", "--features", "client"],
    ] {
        let crates = tree(arguments);
        assert!(crates.iter().any(|name| name == "dpglm-collect"), "{arguments:?}");
        assert!(crates.iter().any(|name| name == "ureq"), "{arguments:?}");
        for server in SERVER {
            assert!(!crates.iter().any(|name| name == server), "{arguments:?} builds {server}");
        }
    }
    // The check itself: it sees a server where there is one.
    let crates = tree(&["-p", "dpglm-cli", "--features", "collect"]);
    assert!(SERVER.iter().all(|server| crates.iter().any(|name| name == server)));
}
