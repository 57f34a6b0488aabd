//! Bench files: what is refused, in which words, and that nothing makes the reader panic.

use std::path::{Path, PathBuf};

use plywood::core::diagnostic::{Diagnostic, Severity};
use plywood::core::fact::{Base, FilePath, Found, Value};
use plywood::io::syntax::{self, Opened};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The bench files of a folder, sorted.
fn benches(name: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder(name))
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "yaml"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Opens a bench as if its file were called `bench.yaml`; files beside it are those of `beside`.
fn open(text: &str, beside: &Path) -> Result<Opened, Vec<Diagnostic>> {
    syntax::open("bench.yaml", text, &[], &mut |path: &FilePath| {
        assert_eq!(path.base, Base::Bench, "a bench reads {path} while it is opened");
        match std::fs::read_to_string(beside.join(&*path.path)) {
            Ok(text) => Found::Value(Value::text(text)),
            Err(_) => Found::Absent,
        }
    })
}

fn rendered(problems: &[Diagnostic]) -> String {
    problems.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn broken_benches_get_these_messages() {
    let files = benches("tests/it/broken");
    assert!(files.len() >= 12);
    for file in files {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).expect("a text");
        let problems = open(&text, &folder("tests/it/broken/files")).expect_err(&name);
        assert!(problems.iter().any(|problem| problem.severity == Severity::Error), "{name}");
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("broken");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, rendered(&problems)));
    }
}

/// The five systems that the format is made for: what is not built yet says so, and nothing else is wrong.
#[test]
fn the_sketches_of_five_systems_are_read() {
    for file in benches("tests/it/sketches") {
        let text = std::fs::read_to_string(&file).expect("a text");
        let problems = open(&text, Path::new("/nowhere")).expect_err("their templates do not exist");
        for problem in &problems {
            let expected = syntax::is_not_built(problem) || problem.message.starts_with("there is no file `");
            assert!(expected, "{}:\n{problem}", file.display());
            assert!(problem.at.is_some() && problem.line.is_some());
        }
    }
}

#[test]
fn the_sample_opens() {
    let text = std::fs::read_to_string(folder("samples/xbot/bench.yaml")).expect("the sample");
    let opened =
        open(&text, &folder("samples/xbot")).unwrap_or_else(|problems| panic!("{}", rendered(&problems)));
    assert_eq!(rendered(&opened.warnings), "");
}
