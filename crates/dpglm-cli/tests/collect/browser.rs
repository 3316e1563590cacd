//! A headless Chromium, driven through its debugging pipe: one JSON message after the other, each ended by a zero byte.

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A browser with one page.
pub struct Browser {
    child: Child,
    to: File,
    from: Receiver<Value>,
    session: Value,
    shown: usize,
    next: u64,
    /// What the browser told without being asked.
    events: Vec<Value>,
    _folder: tempfile::TempDir,
}

/// The browser's program. Without one the test fails: `scripts/test` installs it.
fn program() -> &'static str {
    let installed = |name: &&str| Command::new("which").arg(name).output().is_ok_and(|o| o.status.success());
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| installed(name))
        .expect("Chromium is needed: install your system's `chromium` package")
}

impl Browser {
    /// Starts a browser and opens an address in it.
    pub fn open(url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (to, from) = (folder.path().join("to"), folder.path().join("from"));
        assert!(Command::new("mkfifo").args([&to, &from]).status().unwrap().success());
        // The shell gives the browser the pipe on the descriptors 3 and 4, where it expects it.
        let script = format!(
            "exec {} --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
             --remote-debugging-pipe --user-data-dir={}/profile about:blank 3<{} 4>{}",
            program(),
            folder.path().display(),
            to.display(),
            from.display()
        );
        let child = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = OpenOptions::new().write(true).open(&to).unwrap();
        let mut answers = BufReader::new(File::open(&from).unwrap()).split(0);
        let (tell, from) = channel();
        std::thread::spawn(move || {
            while let Some(Ok(bytes)) = answers.next() {
                let Ok(message) = serde_json::from_slice(&bytes) else { return };
                if tell.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            child,
            to,
            from,
            session: Value::Null,
            shown: 0,
            next: 0,
            events: Vec::new(),
            _folder: folder,
        };
        let target = browser.call("Target.createTarget", json!({"url": url}))["targetId"].clone();
        let attach = json!({"targetId": target, "flatten": true});
        browser.session = browser.call("Target.attachToTarget", attach)["sessionId"].clone();
        browser
    }

    /// Opens another tab of the same browser; [`show`](Self::show) goes to it.
    pub fn tab(&mut self, url: &str) -> Value {
        let session = std::mem::take(&mut self.session);
        let target = self.call("Target.createTarget", json!({"url": url}))["targetId"].clone();
        let attach = json!({"targetId": target, "flatten": true});
        let other = self.call("Target.attachToTarget", attach)["sessionId"].clone();
        self.session = session;
        other
    }

    /// Goes to the tab with this number, of two.
    pub fn show(&mut self, tab: usize, other: &mut Value) {
        if tab != self.shown {
            std::mem::swap(&mut self.session, other);
            self.shown = tab;
        }
    }

    /// Asks the browser itself; what it cannot do fails the test.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.try_call(method, parameters).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn try_call(&mut self, method: &str, parameters: Value) -> Result<Value, Value> {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": parameters});
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            // Events come in between.
            let answer =
                self.from.recv_timeout(Duration::from_secs(120)).expect("the browser does not answer");
            if answer["id"] == self.next {
                let error = &answer["error"];
                return if error.is_null() { Ok(answer["result"].clone()) } else { Err(error.clone()) };
            }
            self.events.push(answer);
        }
    }

    /// The events of this kind so far, which a domain that was enabled tells.
    pub fn told(&self, method: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["method"] == method).map(|event| &event["params"]).collect()
    }

    /// The value of an expression in the page; promises are waited for.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        self.try_evaluate(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    fn try_evaluate(&mut self, expression: &str) -> Result<Value, Value> {
        let parameters = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.try_call("Runtime.evaluate", parameters)?;
        let thrown = &answer["exceptionDetails"];
        if thrown.is_null() { Ok(answer["result"]["value"].clone()) } else { Err(thrown.clone()) }
    }

    /// Waits until an expression holds. While a page is being loaded there may be nothing to ask.
    pub fn wait(&mut self, expression: &str) {
        let started = Instant::now();
        while self.try_evaluate(expression) != Ok(Value::Bool(true)) {
            assert!(started.elapsed() < Duration::from_secs(60), "{expression}: never came true");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
