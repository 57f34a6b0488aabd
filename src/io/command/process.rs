//! One run of one program.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command as Process, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::core::fact::{Base, Command, FilePath, Found, Value};
use crate::io::load::decoded;

/// The variables that a program is given, where they are set here.
const VARIABLES: &[&str] = &[
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "TMPDIR",
    "TZ",
    "USER",
    "SystemRoot",
    "PATHEXT",
    "TEMP",
];
/// How often it is looked whether the program has ended, or is to be stopped.
const LOOK: Duration = Duration::from_millis(15);
/// How long the output of a program that has ended is waited for: something that it started may hold it open.
const LAST_WORDS: Duration = Duration::from_millis(250);
/// How much of the end of its messages is kept, in bytes, and how many lines of them are told.
const MESSAGES: (usize, usize) = (4096, 3);

/// Runs a program and waits for it, or until `stop` is set.
#[must_use]
pub fn run(command: &Command, folder: &Path, stop: &AtomicBool) -> Found {
    let failed = |reason: String| Found::Failed(format!("{command} {reason}").into());
    let Some((program, args)) = command.args.split_first() else {
        return failed("names no program".to_owned());
    };
    let mut process = Process::new(&**program);
    process
        .args(args.iter().map(|arg| &**arg))
        .current_dir(folder)
        .env_clear()
        .envs(VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
        .env("TERM", "dumb")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // A group of its own: it can be stopped with everything that it has started.
        process.process_group(0);
    }
    let mut child = match process.spawn() {
        Ok(child) => child,
        Err(error) => return failed(format!("cannot be started: {}", crate::io::load::reason(&error))),
    };
    let most = command.max_bytes as usize;
    let output = child.stdout.take().map(|pipe| Kept::start(pipe, Keep::Start(most)));
    let messages = child.stderr.take().map(|pipe| Kept::start(pipe, Keep::End(MESSAGES.0)));
    let (Some(output), Some(messages)) = (output, messages) else {
        end(&mut child);
        return failed("has no output".to_owned());
    };
    let ended = wait(&mut child, command, &output, stop);
    // Also what a program that has ended left behind.
    end(&mut child);
    let status = match ended {
        Ended::Itself(status) => Some(status),
        Ended::Flooded => None,
        Ended::Late => {
            return failed(format!("did not end within {} s and was stopped", command.timeout));
        }
        Ended::Stopped => return failed("was stopped".to_owned()),
        Ended::Lost(error) => return failed(format!("was lost: {error}")),
    };
    if let Some(status) = status.filter(|status| !status.success()) {
        messages.wait(LAST_WORDS);
        return failed(format!("{}{}", how(status), last_lines(&messages.bytes())));
    }
    let (mut bytes, flooded) = (output.bytes(), output.is_full());
    if flooded {
        bytes.truncate(most);
        bytes.truncate(whole_characters(&bytes));
    }
    let mut file = decoded(&FilePath::new(Base::Workspace, format!("output of {command}")), &bytes);
    if flooded {
        file.notes.push(format!("cut at {} bytes, and the program was stopped", command.max_bytes).into());
    }
    Found::Value(Value::File(Arc::new(file)))
}

/// How a run ended.
enum Ended {
    /// The program ended.
    Itself(ExitStatus),
    /// It printed more than is kept.
    Flooded,
    /// It took too long.
    Late,
    /// Nobody wants to know any more.
    Stopped,
    /// It cannot be waited for.
    Lost(std::io::Error),
}

fn wait(child: &mut Child, command: &Command, output: &Kept, stop: &AtomicBool) -> Ended {
    let deadline = Instant::now() + Duration::from_secs(u64::from(command.timeout));
    loop {
        if output.is_full() {
            return Ended::Flooded;
        }
        match child.try_wait() {
            Ok(Some(status)) => {
                output.wait(LAST_WORDS);
                return if output.is_full() { Ended::Flooded } else { Ended::Itself(status) };
            }
            Ok(None) if stop.load(Ordering::Relaxed) => return Ended::Stopped,
            Ok(None) if Instant::now() >= deadline => return Ended::Late,
            Ok(None) => output.wait_or_full(LOOK),
            Err(error) => return Ended::Lost(error),
        }
    }
}

/// Ends a program with all that it has started.
fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        use nix::sys::signal::{Signal, killpg};
        use nix::unistd::Pid;
        if let Ok(group) = i32::try_from(child.id()) {
            // A group that is gone already needs no end.
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn how(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return format!("was ended by signal {signal}");
        }
    }
    match status.code() {
        Some(code) => format!("ended with status {code}"),
        None => "ended".to_owned(),
    }
}

/// The last lines of what a program said, behind a colon; empty where it said nothing.
fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let clean = |line: &str| line.chars().filter(|c| !c.is_control()).take(200).collect::<String>();
    let lines: Vec<String> =
        text.lines().map(|line| clean(line.trim())).filter(|line| !line.is_empty()).collect();
    let tail = &lines[lines.len().saturating_sub(MESSAGES.1)..];
    if tail.is_empty() { String::new() } else { format!(": {}", tail.join(" / ")) }
}

/// Where the last whole character of bytes that may be cut in the middle of one ends.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        // Only a character that is cut at the very end is taken off; other encodings stay as they are.
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

/// Which bytes of a pipe are kept.
#[derive(Clone, Copy)]
enum Keep {
    /// The first so many; whoever writes more is to be stopped.
    Start(usize),
    /// The last so many.
    End(usize),
}

/// What comes out of a pipe, read by a thread of its own.
struct Kept {
    bytes: Arc<Mutex<Vec<u8>>>,
    full: Arc<AtomicBool>,
    /// Disconnected when the pipe was closed or there is enough of it.
    done: Receiver<()>,
}

impl Kept {
    fn start(mut pipe: impl Read + Send + 'static, keep: Keep) -> Kept {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let full = Arc::new(AtomicBool::new(false));
        let (open, done): (Sender<()>, _) = channel();
        let (to, mark) = (bytes.clone(), full.clone());
        // Without a thread there is no output; the program is stopped when its time is over.
        let _ = std::thread::Builder::new().name("output".into()).spawn(move || {
            let _open = open;
            let mut buffer = [0; 8192];
            loop {
                let read = match pipe.read(&mut buffer) {
                    Ok(0) | Err(_) => return,
                    Ok(read) => read,
                };
                let mut kept = to.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&buffer[..read]);
                match keep {
                    Keep::Start(most) if kept.len() > most => {
                        mark.store(true, Ordering::Relaxed);
                        return;
                    }
                    Keep::End(most) if kept.len() > most => {
                        let extra = kept.len() - most;
                        kept.drain(..extra);
                    }
                    _ => {}
                }
            }
        });
        Kept { bytes, full, done }
    }

    fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Waits until the pipe is closed or there is enough of it, but not longer than this.
    fn wait(&self, most: Duration) {
        let _ = self.done.recv_timeout(most);
    }

    /// Waits for this long, or until there is too much output.
    fn wait_or_full(&self, most: Duration) {
        if let Err(RecvTimeoutError::Disconnected) = self.done.recv_timeout(most)
            && !self.is_full()
        {
            // Its output is closed, but it goes on.
            std::thread::sleep(most);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn command(args: &[&str], timeout: u32, max_bytes: u32) -> Command {
        Command { args: args.iter().map(|arg| (*arg).into()).collect(), timeout, max_bytes }
    }

    fn sh(script: &str, timeout: u32, max_bytes: u32) -> Found {
        let folder = tempfile::tempdir().expect("a folder");
        run(&command(&["/bin/sh", "-c", script], timeout, max_bytes), folder.path(), &AtomicBool::new(false))
    }

    fn text(found: Found) -> (String, Vec<String>) {
        match found {
            Found::Value(Value::File(file)) => {
                (file.text.to_string(), file.notes.iter().map(ToString::to_string).collect())
            }
            other => panic!("{other:?}"),
        }
    }

    fn reason(found: Found) -> String {
        match found {
            Found::Failed(reason) => reason.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_it_prints_is_the_text_and_it_runs_in_the_folder_without_a_shell() {
        let folder = tempfile::tempdir().expect("a folder");
        let real = folder.path().canonicalize().expect("a path");
        let stop = AtomicBool::new(false);
        let found = run(&command(&["/bin/pwd"], 5, 1000), &real, &stop);
        assert_eq!(text(found).0.trim_end(), real.to_string_lossy());
        // What a shell would take apart is one argument.
        let found = run(&command(&["/bin/echo", "$HOME; ls > x"], 5, 1000), &real, &stop);
        assert_eq!(text(found).0, "$HOME; ls > x\n");
        assert!(!real.join("x").exists());
    }

    #[test]
    fn its_input_is_closed_and_its_environment_small() {
        assert_eq!(text(sh("cat; echo end", 5, 1000)).0, "end\n");
        let names = text(sh("env | sed 's/=.*//' | sort", 5, 10_000)).0;
        let own = ["PWD", "OLDPWD", "SHLVL", "_", "TERM"];
        for name in names.lines() {
            assert!(VARIABLES.contains(&name) || own.contains(&name), "{name}");
        }
    }

    #[test]
    fn who_does_not_end_is_stopped_with_all_its_children() {
        let folder = tempfile::tempdir().expect("a folder");
        let pids = folder.path().join("pids");
        let script = format!("sleep 600 & echo $! > {0}; echo $$ >> {0}; sleep 600", pids.display());
        let late = reason(sh(&script, 1, 1000));
        assert!(late.ends_with("did not end within 1 s and was stopped"), "{late}");
        for pid in std::fs::read_to_string(&pids).expect("it has begun").lines() {
            let alive = || {
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                // A process that is over and not yet buried is no longer running.
                !stat.is_empty() && !stat.contains(") Z ") && !stat.contains(") X ")
            };
            let until = Instant::now() + Duration::from_secs(10);
            while alive() && Instant::now() < until {
                std::thread::sleep(LOOK);
            }
            assert!(!alive(), "{pid} is still there");
        }
    }

    #[test]
    fn a_flood_is_cut_between_characters_and_told() {
        let (lines, notes) = text(sh("yes 你好", 20, 1000));
        assert!(
            lines.len() <= 1000 && lines.len() > 990 && lines.starts_with("你好\n你好\n"),
            "{}",
            lines.len()
        );
        assert_eq!(notes, ["cut at 1000 bytes, and the program was stopped"]);
        let (exact, notes) = text(sh("printf 12345", 5, 5));
        assert_eq!((exact.as_str(), notes.len()), ("12345", 0), "as much as is allowed is no flood");
    }

    #[test]
    fn a_failure_is_told_with_its_last_words() {
        let failure = reason(sh("echo one >&2; echo two >&2; echo out; exit 3", 5, 1000));
        assert!(failure.ends_with(" ended with status 3: one / two"), "{failure}");
        assert!(failure.starts_with("`/bin/sh -c \"echo one"), "{failure}");
        assert!(reason(sh("kill -9 $$", 5, 1000)).ends_with("was ended by signal 9"));
        let stop = AtomicBool::new(false);
        let none = reason(run(&command(&["/nonexistent/program"], 5, 10), Path::new("/"), &stop));
        assert!(none.starts_with("`/nonexistent/program` cannot be started: "), "{none}");
    }

    #[test]
    fn what_it_leaves_behind_holds_nobody_up() {
        // It is over when the program is, whatever still holds its output.
        assert_eq!(text(sh("sleep 600 & echo done", 30, 1000)).0, "done\n");
    }

    #[test]
    fn it_can_be_stopped() {
        let stop = Arc::new(AtomicBool::new(true));
        let found = run(&command(&["/bin/sleep", "600"], 600, 10), Path::new("/"), &stop);
        assert_eq!(reason(found), "`/bin/sleep 600` was stopped");
    }
}
