//! The program as its user meets it: how soon it is there, how soon a saved file is on the screen, what it does when
//! nothing happens. It runs in a pseudo-terminal, and what counts is what that terminal shows.
//!
//! `cargo bench --bench live`, or with the names of parts: `cargo bench --bench live -- start save`. Figures only; they
//! depend on the machine and on what else it does.

#[cfg(unix)]
#[path = "../tests/pty/harness.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod harness;

#[cfg(unix)]
#[path = "live/parts.rs"]
mod parts;

#[cfg(unix)]
fn main() {
    let chosen: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let all: [(&str, fn()); 6] = [
        ("size", parts::size),
        ("start", parts::start),
        ("frame", parts::frame),
        ("save", parts::save),
        ("checkout", parts::checkout),
        ("idle", parts::idle),
    ];
    for (name, part) in all {
        if chosen.is_empty() || chosen.iter().any(|chosen| chosen == name) {
            part();
        }
    }
}

#[cfg(not(unix))]
fn main() {
    println!("needs a pseudo-terminal of Unix");
}
