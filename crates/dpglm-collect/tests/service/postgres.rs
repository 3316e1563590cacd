//! A PostgreSQL cluster of its own for a test: in a temporary folder, on a socket in that folder, gone afterwards.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A running cluster.
pub struct Cluster {
    folder: tempfile::TempDir,
    binaries: PathBuf,
}

/// The newest installed server programs. Without them the test fails: `scripts/test` installs them.
fn binaries() -> PathBuf {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, path)| path.join("initdb").exists())
        .collect();
    versions.sort();
    if let Some((_, path)) = versions.pop() {
        return path;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .find(|folder| folder.join("initdb").exists())
        .expect("PostgreSQL's server programs are needed: install your system's `postgresql` package")
}

impl Cluster {
    /// Creates and starts a cluster.
    pub fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("dpglm-pg").tempdir_in("/tmp").unwrap();
        let cluster = Self { folder, binaries: binaries() };
        if is_root() {
            // The server refuses to run as root.
            let status = Command::new("chown").arg("nobody").arg(cluster.folder.path()).status().unwrap();
            assert!(status.success());
        }
        let data = cluster.data();
        cluster.run(
            "initdb",
            &[
                "-D",
                &data,
                "-U",
                "dpglm",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-instructions",
            ],
        );
        cluster.launch();
        cluster
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    /// Where the server may write.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Starts the server.
    pub fn launch(&self) {
        self.launch_with("-c listen_addresses=''");
    }

    /// Starts the server with these options.
    pub fn launch_with(&self, options: &str) {
        let options = format!("{options} -c unix_socket_directories='{}'", self.path().display());
        let log = self.path().join("log").display().to_string();
        self.run("pg_ctl", &["-D", &self.data(), "-w", "-l", &log, "-o", &options, "start"]);
    }

    /// Stops at once, as in a crash, and starts again: the log is replayed.
    pub fn restart(&self) {
        self.stop();
        self.launch();
    }

    /// Stops at once.
    pub fn stop(&self) {
        self.run("pg_ctl", &["-D", &self.data(), "-w", "-m", "immediate", "stop"]);
    }

    /// A fresh database and its URL.
    pub fn database(&self, name: &str) -> String {
        let host = self.path().display().to_string();
        self.run("createdb", &["-h", &host, "-U", "dpglm", name]);
        format!("postgresql:///{name}?host={host}&user=dpglm")
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        self.execute(Command::new(self.binaries.join(program)).args(arguments));
    }

    /// Runs a command as a user that the server may run as.
    pub fn execute(&self, asked: &Command) {
        let mut command = Command::new(if is_root() { "runuser".as_ref() } else { asked.get_program() });
        if is_root() {
            command.args(["-u", "nobody", "--"]).arg(asked.get_program());
        }
        // The server must not keep the test's own streams open.
        let status = command
            .args(asked.get_args())
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "{asked:?} failed");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.run("pg_ctl", &["-D", &self.data(), "-w", "-m", "immediate", "stop"]);
            return;
        }
        // Do not panic twice.
        let program = self.binaries.join("pg_ctl");
        let data = self.data();
        let arguments = ["-D", &data, "-w", "-m", "immediate", "stop"];
        let _ = if is_root() {
            Command::new("runuser").args(["-u", "nobody", "--"]).arg(program).args(arguments).status()
        } else {
            Command::new(program).args(arguments).status()
        };
    }
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().unwrap();
    output.stdout.trim_ascii() == b"0"
}
