//! The bench of a folder that has none, as a file of its own, with a conversation that was tried in it as its run.

use super::{Draft, yaml};
use crate::core::run::Input;
use crate::io::edit::bench::laid_run;
use crate::io::plain;

/// Writes it: the same layers, so that the same requests come of it.
pub(super) fn draft(name: &str, run: &str, lines: &[Input]) -> Result<Draft, String> {
    let lines = laid_run(lines, 2)?;
    let mut text = String::new();
    for line in embedded(plain::BENCH).lines() {
        match line.split_once(':').map_or(line, |(key, _)| key) {
            "name" => {
                let name = yaml::scalar(name);
                text.push_str(&format!("name: {name}\nworkspace: {{ path: . }}\n"));
            }
            // A bench with a run begins with it, and it is no longer the one that nobody chose.
            "title" | "sent_on_open" => {}
            key if key.starts_with('#') => {
                text.push_str("# What a folder without a bench is opened with, and a conversation that was tried in it.\n");
            }
            _ => {
                text.push_str(&inlined(line));
                text.push('\n');
            }
        }
    }
    text.push_str(&format!("\nruns:\n  {run}:{lines}\n"));
    Ok(Draft { files: vec![("bench.yaml".to_owned(), text)], ..Draft::default() })
}

/// A file of the program.
fn embedded(path: &str) -> &'static str {
    let found = plain::FILES.iter().find(|(name, _)| *name == path);
    found.and_then(|(_, bytes)| std::str::from_utf8(bytes).ok()).unwrap_or_default()
}

/// A line of the bench with the template that it names written into it: that file is part of the program.
fn inlined(line: &str) -> String {
    const NAMED: &str = "from: { template: ";
    let Some((before, rest)) = line.split_once(NAMED) else { return line.to_owned() };
    let Some((path, behind)) = rest.split_once(" }") else { return line.to_owned() };
    format!("{before}from: {{ text: {} }}{behind}", yaml::quoted(embedded(path)))
}
