//! The house rules that a compiler does not know: who may import whom, how long a file may be, what is listed where.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All files below a folder, as paths from the root, sorted.
fn files(folder: &str) -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    walk(&root().join(folder), &mut found);
    let mut names: Vec<String> = found
        .iter()
        .map(|path| path.strip_prefix(root()).expect("below the root").to_string_lossy().replace('\\', "/"))
        .collect();
    names.sort();
    names
}

fn rust(folder: &str) -> Vec<String> {
    let names: Vec<String> = files(folder).into_iter().filter(|name| name.ends_with(".rs")).collect();
    assert!(!names.is_empty(), "{folder} holds no code");
    names
}

/// A file without its comments and without its unit tests, which may use what they like.
fn code(name: &str) -> String {
    let text = read(name);
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// True where `word` stands in `text` and is not part of a longer name.
fn says(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(part)
            && !text[at + word.len()..].chars().next().is_some_and(part)
    })
}

#[test]
fn imports_go_one_way() {
    let layers = ["core", "io", "app", "tui"];
    for (rank, layer) in layers.iter().enumerate() {
        for name in rust("src").iter().filter(|name| name.starts_with(&format!("src/{layer}/"))) {
            let code = code(name);
            for above in layers[rank + 1..].iter().chain(&["cli"]) {
                assert!(!says(&code, &format!("crate::{above}")), "{name} imports {above}");
                assert!(!code.contains(&format!("crate::{{{above}")), "{name} imports {above}");
            }
        }
    }
}

#[test]
fn the_core_is_pure() {
    let edges = [
        "std::fs",
        "std::env",
        "std::net",
        "std::process",
        "std::thread",
        "std::io",
        "std::path",
        "std::time",
        "tokio",
        "ratatui",
        "crossterm",
        "notify",
        "tempfile",
        "anyhow",
        "HashMap",
        "HashSet",
        "SystemTime",
        "Instant",
        "println",
        "eprintln",
    ];
    for name in rust("src/core") {
        let code = code(&name);
        for edge in edges {
            assert!(!says(&code, edge), "{name} uses {edge}");
        }
    }
    assert!(
        read("src/core/mod.rs").contains("#![deny(clippy::disallowed_methods, clippy::disallowed_types)]")
    );
}

#[test]
fn only_the_terminal_knows_the_terminal() {
    for folder in ["core", "io", "app"] {
        for name in rust("src").iter().filter(|name| name.starts_with(&format!("src/{folder}/"))) {
            let code = code(name);
            for word in ["ratatui", "crossterm"] {
                assert!(!says(&code, word), "{name} uses {word}");
            }
        }
    }
}

#[test]
fn files_are_short() {
    for folder in ["src", "tests", "benches"] {
        for name in files(folder).iter().filter(|name| name.ends_with(".rs")) {
            let lines = read(name).lines().count();
            assert!(lines <= 800, "{name} has {lines} lines; divide it");
        }
    }
}

#[test]
fn the_root_opens_a_sample() {
    // What would make `plywood` open this folder instead of a sample.
    for name in ["bench.yaml", "AGENTS.md", "CLAUDE.md", "GEMINI.md"] {
        assert!(!root().join(name).exists(), "{name} in the root");
    }
    let root = fs::read_dir(root()).expect("the root can be read");
    let benches = root.filter(|entry| {
        entry.as_ref().is_ok_and(|e| e.file_name().to_string_lossy().ends_with(".bench.yaml"))
    });
    assert_eq!(benches.count(), 0);
}

#[test]
fn no_code_names_a_sample() {
    let names = samples();
    for file in rust("src").iter().filter(|file| *file != "src/io/samples.rs") {
        for name in &names {
            assert!(!says(&code(file), name), "{file} names the sample {name}");
        }
    }
}

/// The folders of `samples/`.
fn samples() -> Vec<String> {
    let names: BTreeSet<String> = files("samples")
        .iter()
        .filter_map(|file| file.strip_prefix("samples/")?.split_once('/').map(|(name, _)| name.to_owned()))
        .collect();
    assert!(!names.is_empty());
    names.into_iter().collect()
}

#[test]
fn every_file_of_every_sample_is_embedded() {
    let mut embedded: Vec<String> = plywood::io::samples::samples()
        .iter()
        .flat_map(|sample| sample.files.iter().map(|(path, _)| format!("samples/{}/{path}", sample.name)))
        .collect();
    embedded.sort();
    assert_eq!(embedded, files("samples"), "the list in src/io/samples.rs against the folder");
}

#[test]
fn every_module_says_what_it_is_for() {
    for name in rust("src").into_iter().chain(rust("tests")) {
        assert!(read(&name).starts_with("//! "), "{name} does not begin with what it is for");
    }
}

#[test]
fn exceptions_to_lints_are_expected_with_a_reason() {
    for name in rust("src").into_iter().chain(rust("tests")) {
        let text = read(&name);
        // Put together here, so that this test does not find itself.
        assert!(!text.contains(&format!("#[{}(", "allow")), "{name} allows a lint; expect it, with a reason");
        for word in ["ignore]", "ignore ="] {
            assert!(!text.contains(&format!("#[{word}")), "{name} has a test that does not run");
        }
    }
}

/// The text between two markers of the README.
fn generated(what: &str) -> String {
    let readme = read("README.md");
    let start = format!("<!-- {what}: generated -->\n");
    let from = readme.find(&start).unwrap_or_else(|| panic!("the README has no part {what}")) + start.len();
    let end = readme[from..].find(&format!("<!-- end of {what} -->")).expect("the part ends") + from;
    readme[from..end].trim().to_owned()
}

#[test]
fn the_readme_lists_the_samples() {
    let listed: Vec<String> = plywood::io::samples::samples()
        .iter()
        .map(|sample| format!("- `{}`: {}.", sample.name, sample.about))
        .collect();
    assert_eq!(generated("samples"), listed.join("\n"));
}

#[test]
fn the_readme_lists_the_keys() {
    let expected = plywood::cli::keys::markdown();
    let written = generated("keys");
    assert!(written == expected, "put this between the markers of the README:\n{expected}");
}

#[test]
fn the_readme_lists_what_json_holds() {
    let expected = plywood::cli::head::markdown();
    let written = generated("json");
    assert!(written == expected, "put this between the markers of the README:\n{expected}");
}

#[test]
fn the_readmes_bench_opens() {
    let readme = read("README.md");
    let bench = readme.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a bench");
    let mut beside = |_: &plywood::core::fact::FilePath| {
        plywood::core::fact::Found::Value(plywood::core::fact::Value::text("- {{ cwd }}\n"))
    };
    let opened = plywood::io::syntax::open("README.md", bench, &["rebuild".into()], &mut beside)
        .unwrap_or_else(|problems| panic!("{}", problems[0]));
    assert!(opened.warnings.is_empty() && !opened.bench.runs.is_empty());
}

#[test]
fn the_readme_lists_the_themes() {
    let readme = read("README.md");
    let themes: Vec<String> = files("themes")
        .iter()
        .filter_map(|file| Some(file.strip_prefix("themes/")?.strip_suffix(".yaml")?.to_owned()))
        .collect();
    assert!(!themes.is_empty());
    for theme in themes {
        assert!(readme.contains(&format!("`{theme}`")), "the README does not name the theme {theme}");
    }
}

#[test]
fn the_tokenizers_revision_is_the_one_that_is_built_in() {
    let lock = read("Cargo.lock");
    let version =
        lock.split("name = \"tiktoken\"\nversion = \"").nth(1).and_then(|rest| rest.split('"').next());
    assert_eq!(plywood::core::tokens::REVISION, format!("tiktoken {}", version.expect("it is a dependency")));
}

#[test]
fn the_readme_and_the_build_server_run_the_same_tests() {
    let readme = read("README.md");
    for command in ["cargo run --release", "cargo test"] {
        assert!(
            readme.lines().any(|line| line == command),
            "the README does not show `{command}` on a line of its own"
        );
    }
    let server = read(".ci/run");
    assert!(
        server.lines().any(|line| line == "step cargo test"),
        ".ci/run does not run what the README says"
    );
}

/// The licences that `deny.toml` allows: for everything, and for single crates.
fn allowed() -> (Vec<String>, Vec<(String, String)>) {
    let text = read("deny.toml");
    let quoted =
        |line: &str| -> Vec<String> { line.split('"').skip(1).step_by(2).map(str::to_owned).collect() };
    let list = text.split("\nallow = [\n").nth(1).and_then(|rest| rest.split("\n]").next()).expect("a list");
    let all = list.lines().filter_map(|line| quoted(line).into_iter().next()).collect();
    let single = text
        .lines()
        .filter(|line| line.contains("{ crate =") && line.contains("allow ="))
        .map(|line| (quoted(line)[0].clone(), quoted(line)[1].clone()))
        .collect();
    (all, single)
}

/// True where a licence expression can be met with what is allowed.
fn met(expression: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    // `AND` binds closer than `OR`; parentheses only ever stand around choices in the crates that are used.
    let expression = expression.replace('/', " OR ");
    if let Some((choice, rest)) = expression.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        let rest = rest.trim();
        return met(choice, allowed) && rest.strip_prefix("AND ").is_none_or(|rest| met(rest, allowed));
    }
    expression.split(" OR ").any(|choice| choice.split(" AND ").all(|one| allowed(one.trim())))
}

/// Characters whose width terminals disagree about would break the columns of our own screens: emoji, above all those with
/// a variation selector. Lines, arrows and dots belong to those that a terminal program can count on.
#[test]
fn our_own_words_are_of_certain_width() {
    for folder in ["src/app", "src/tui", "src/cli"] {
        for name in rust(folder).into_iter().filter(|name| !name.ends_with("/tests.rs")) {
            for c in code(&name).chars().filter(|c| !c.is_ascii()) {
                let line = ('\u{2500}'..='\u{257f}').contains(&c);
                // Chinese is wide everywhere.
                let wide = ('\u{4e00}'..='\u{9fff}').contains(&c);
                assert!(line || wide || "·•↑↓".contains(c), "{name} has {c:?}");
            }
        }
    }
}

#[test]
fn every_licence_is_allowed() {
    let (all, single) = allowed();
    let output = std::process::Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--edges", "all", "--prefix", "none", "--format", "{p}|{l}"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listed = String::from_utf8(output.stdout).expect("names are UTF-8");
    let crates: BTreeSet<(&str, &str)> = listed
        .lines()
        .filter_map(|line| line.split_once('|'))
        .filter(|(name, _)| name.contains(" v"))
        .map(|(name, licence)| {
            (name.split(' ').next().unwrap_or(name), licence.trim_end_matches("(*)").trim())
        })
        .collect();
    assert!(crates.len() > 20, "cargo lists the dependencies");
    for (name, licence) in crates {
        let allowed = |one: &str| {
            all.iter().any(|known| known == one)
                || single.iter().any(|(who, what)| who == name && what == one)
        };
        assert!(met(licence, &allowed), "{name} has the licence {licence}, which deny.toml does not allow");
    }
}

/// A test file that no binary names is never compiled, and nothing says so.
#[test]
fn every_test_file_is_part_of_its_binary() {
    for binary in ["conformance", "it", "pty"] {
        let main = read(&format!("tests/{binary}/main.rs"));
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(binary);
        for entry in std::fs::read_dir(folder).expect("a folder of tests") {
            let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
            if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") {
                assert!(
                    main.contains(&format!("mod {module};")),
                    "tests/{binary}/main.rs does not name {module}"
                );
            }
        }
    }
}
