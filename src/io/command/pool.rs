//! The programs of a bench: which may run, which are running, and what they printed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::process;
use crate::core::fact::{Command, Found};

/// Called from another thread when a program has ended: [`Pool::take`] has news.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Why a program was not run, and who can change that.
const NOT_ALLOWED: &str = "was not run: nobody has allowed it (T in the workbench, or --trust)";
/// How long programs that still run are waited for when nobody needs them any more.
const END: Duration = Duration::from_millis(300);

/// The programs of a bench.
pub struct Pool {
    allowed: BTreeSet<Command>,
    /// True where everything may run, and is waited for.
    waits: bool,
    known: BTreeMap<Command, Slot>,
    sender: Sender<(Command, Found)>,
    receiver: Receiver<(Command, Found)>,
    running: usize,
    stop: Arc<AtomicBool>,
    bell: Arc<Mutex<Bell>>,
}

/// Whom to tell that a program has ended.
#[derive(Default)]
struct Bell {
    wake: Option<Wake>,
    /// One has ended while there was nobody to tell.
    missed: bool,
}

impl Bell {
    fn ring(&mut self) {
        match &self.wake {
            Some(wake) => wake(),
            None => self.missed = true,
        }
    }
}

/// What is known of a program.
enum Slot {
    /// It runs for the first time.
    Running,
    /// It has ended; it may be running once more.
    Done(Found),
}

impl Default for Pool {
    fn default() -> Pool {
        let (sender, receiver) = channel();
        Pool {
            allowed: BTreeSet::new(),
            waits: false,
            known: BTreeMap::new(),
            sender,
            receiver,
            running: 0,
            stop: Arc::default(),
            bell: Arc::default(),
        }
    }
}

impl Pool {
    /// Lets every program run, and waits for each: for commands without a screen whose user has said `--trust`.
    pub fn trust_all(&mut self) {
        self.waits = true;
    }

    /// Lets these programs run, beside whoever asks for what they print.
    pub fn allow(&mut self, commands: impl IntoIterator<Item = Command>) {
        self.allowed.extend(commands);
    }

    /// True for a program that may run.
    #[must_use]
    pub fn allows(&self, command: &Command) -> bool {
        self.waits || self.allowed.contains(command)
    }

    /// Who is to be told when a program has ended; at once, where one has ended already.
    pub fn wake_with(&mut self, wake: Wake) {
        let mut bell = self.bell.lock().unwrap_or_else(PoisonError::into_inner);
        bell.wake = Some(wake);
        if std::mem::take(&mut bell.missed) {
            bell.ring();
        }
    }

    /// What a program has printed. One that has not been run yet is started, if it may run.
    pub fn look(&mut self, command: &Command, folder: &Path) -> Found {
        match self.known.get(command) {
            Some(Slot::Done(found)) => return found.clone(),
            Some(Slot::Running) => return running(command),
            None => {}
        }
        if self.waits {
            let found = process::run(command, folder, &self.stop);
            self.known.insert(command.clone(), Slot::Done(found.clone()));
            return found;
        }
        if !self.allowed.contains(command) {
            return Found::Failed(format!("{command} {NOT_ALLOWED}").into());
        }
        self.known.insert(command.clone(), Slot::Running);
        self.start(command, folder);
        match self.known.get(command) {
            Some(Slot::Done(found)) => found.clone(),
            _ => running(command),
        }
    }

    /// Runs every program again that has ended. What it printed before holds until it has ended once more.
    pub fn again(&mut self, folder: &Path) {
        let ended =
            |(command, slot): (&Command, &Slot)| matches!(slot, Slot::Done(_)).then(|| command.clone());
        let commands: Vec<Command> = self.known.iter().filter_map(ended).collect();
        for command in commands {
            if self.waits {
                let found = process::run(&command, folder, &self.stop);
                self.known.insert(command, Slot::Done(found));
            } else {
                self.start(&command, folder);
            }
        }
    }

    /// The programs that have ended since this was last asked, with what they printed.
    pub fn take(&mut self) -> Vec<(Command, Found)> {
        let news: Vec<(Command, Found)> = self.receiver.try_iter().collect();
        for (command, found) in &news {
            self.running -= 1;
            self.known.insert(command.clone(), Slot::Done(found.clone()));
        }
        news
    }

    /// True while a program runs, or has ended and nobody has asked for what it printed.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.running > 0
    }

    fn start(&mut self, command: &Command, folder: &Path) {
        let (own, folder, stop) = (command.clone(), folder.to_owned(), self.stop.clone());
        let (sender, bell) = (self.sender.clone(), self.bell.clone());
        let thread = std::thread::Builder::new().name("command".into()).spawn(move || {
            let found = process::run(&own, &folder, &stop);
            if sender.send((own, found)).is_ok() {
                bell.lock().unwrap_or_else(PoisonError::into_inner).ring();
            }
        });
        match thread {
            Ok(_) => self.running += 1,
            Err(error) => {
                let found = Found::Failed(format!("{command} cannot be started: {error}").into());
                self.known.insert(command.clone(), Slot::Done(found));
            }
        }
    }
}

/// Programs that nobody needs any more do not outlive the bench.
impl Drop for Pool {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let until = std::time::Instant::now() + END;
        while self.running > 0 {
            let left = until.saturating_duration_since(std::time::Instant::now());
            if self.receiver.recv_timeout(left).is_err() {
                return;
            }
            self.running -= 1;
        }
    }
}

fn running(command: &Command) -> Found {
    Found::Failed(format!("{command} has not ended yet").into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::core::fact::Value;

    fn sh(script: &str) -> Command {
        let args = ["/bin/sh", "-c", script].map(Into::into);
        Command { args: args.to_vec().into(), timeout: 30, max_bytes: 1000 }
    }

    fn text(found: &Found) -> &str {
        match found {
            Found::Value(Value::File(file)) => &file.text,
            Found::Failed(reason) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn nothing_runs_that_was_not_allowed() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut pool = Pool::default();
        let (one, two) = (sh("echo x > one; echo 1"), sh("echo x > two; echo 2"));
        pool.allow([one.clone()]);
        let refused = pool.look(&two, folder.path());
        assert!(text(&refused).ends_with(NOT_ALLOWED));
        assert!(text(&pool.look(&one, folder.path())).ends_with("has not ended yet"));
        while pool.is_running() {
            pool.take();
            std::thread::yield_now();
        }
        assert_eq!(text(&pool.look(&one, folder.path())), "1\n");
        assert!(folder.path().join("one").exists() && !folder.path().join("two").exists());
    }

    #[test]
    fn what_was_printed_is_kept_until_it_runs_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut pool = Pool::default();
        pool.trust_all();
        let count = sh("echo x >> runs; wc -l < runs | tr -d ' '");
        for _ in 0..3 {
            assert_eq!(text(&pool.look(&count, folder.path())), "1\n");
        }
        pool.again(folder.path());
        assert_eq!(text(&pool.look(&count, folder.path())), "2\n");
    }

    #[test]
    fn who_waits_is_woken() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut pool = Pool::default();
        let (sender, woken) = channel();
        pool.wake_with(Arc::new(move || {
            let _ = sender.send(());
        }));
        let hello = sh("echo hello");
        pool.allow([hello.clone()]);
        pool.look(&hello, folder.path());
        woken.recv_timeout(Duration::from_secs(30)).expect("it ends");
        assert_eq!(pool.take().len(), 1);
        pool.again(folder.path());
        assert_eq!(text(&pool.look(&hello, folder.path())), "hello\n", "the old output holds meanwhile");
        woken.recv_timeout(Duration::from_secs(30)).expect("it ends once more");
        // Whoever comes late is told of what has ended before.
        let mut pool = Pool::default();
        pool.allow([hello.clone()]);
        pool.look(&hello, folder.path());
        let (sender, woken) = channel();
        pool.wake_with(Arc::new(move || {
            let _ = sender.send(());
        }));
        woken.recv_timeout(Duration::from_secs(30)).expect("it ends");
    }
}
