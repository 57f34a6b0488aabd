//! The built-in bench on folders as they are: every encoding, links, nothing at all.

use std::fs;
use std::path::Path;

use plywood::core::diagnostic::Severity;
use plywood::core::fact::{FactKey, Found};
use plywood::core::run::{Load, Player};
use plywood::io::bench_file::{BenchFile, Machine};
use plywood::io::load::{Loader, fixed_clock};
use tempfile::TempDir;

struct Disk<'a>(&'a mut Loader);

impl Load for Disk<'_> {
    fn load(&mut self, keys: &[FactKey]) -> Vec<(FactKey, Found)> {
        keys.iter().map(|key| (key.clone(), self.0.load(key))).collect()
    }
}

/// The system prompt of a plain folder, and what went wrong in layers. That a file is in another encoding is no mistake.
fn system(folder: &Path) -> (String, Vec<String>) {
    let machine = Machine { clock: fixed_clock("2026-04-01T09:00:00+08:00[Asia/Shanghai]"), home: None };
    let mut file = BenchFile::open(folder, &machine).expect("the built-in bench");
    let (bench, warnings) = file.bench(&[]).expect("the built-in bench");
    assert_eq!(warnings, []);
    let player = Player::start(bench, None, &mut Disk(file.loader())).expect("a session");
    let session = player.session();
    let record = session.calls().last().map(|call| &**call).or(session.prepared()).expect("a call");
    let text = record.head.iter().map(|block| block.text.text().to_string()).collect();
    let problems = record.diagnostics.iter().filter(|problem| problem.severity != Severity::Note);
    (text, problems.map(|problem| problem.to_string()).collect())
}

#[test]
fn agents_files_of_every_kind_reach_the_prompt_whole() {
    let text = "# 规则\r\n\r\n四个空格。🙂\n";
    let utf16: Vec<u8> =
        "\u{FEFF}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let (gb18030, _, _) = encoding_rs::GB18030.encode(text);
    let huge = "一行规则 with some words\n".repeat(280 * 1024 / 30);
    for (bytes, expected) in [
        (text.as_bytes().to_vec(), text),
        (format!("\u{FEFF}{text}").into_bytes(), text),
        (utf16, text),
        (gb18030.into_owned(), text),
        (huge.as_bytes().to_vec(), huge.as_str()),
    ] {
        let folder = TempDir::new().expect("a folder");
        fs::write(folder.path().join("AGENTS.md"), bytes).expect("a file");
        let (prompt, problems) = system(folder.path());
        assert!(prompt.starts_with(expected), "{}", prompt.chars().take(200).collect::<String>());
        assert_eq!(problems, Vec::<String>::new());
    }
}

#[test]
fn a_folder_without_anything_has_a_prompt() {
    let folder = TempDir::new().expect("a folder");
    let (prompt, problems) = system(folder.path());
    assert!(prompt.contains("Current directory: "), "{prompt}");
    assert!(prompt.contains("Date: 2026-04-01\n"), "{prompt}");
    assert!(!prompt.contains("git"), "{prompt}");
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn an_agents_file_that_cannot_be_read_says_why() {
    let folder = TempDir::new().expect("a folder");
    fs::create_dir(folder.path().join("AGENTS.md")).expect("a folder");
    let (prompt, problems) = system(folder.path());
    assert!(prompt.contains("Current directory: "), "{prompt}");
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("it is a folder"), "{problems:?}");
}

#[cfg(unix)]
#[test]
fn a_linked_agents_file_is_followed() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("CLAUDE.md"), "shared rules").expect("a file");
    std::os::unix::fs::symlink("CLAUDE.md", folder.path().join("AGENTS.md")).expect("a link");
    assert!(system(folder.path()).0.starts_with("shared rules"));
}
