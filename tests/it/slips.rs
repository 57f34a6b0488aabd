//! What a slip of the pen is answered: what is not there, what is called nearly like it, and where it was written.

use std::fs;
use std::path::Path;

use crate::cli::run;

#[track_caller]
fn refused(arguments: &[&str], message: &str, hint: &str) {
    let ran = run(arguments);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{arguments:?}: {}", ran.stderr);
    assert!(ran.stderr.contains(message), "{arguments:?}: {message} is not in {}", ran.stderr);
    assert!(ran.stderr.contains(hint), "{arguments:?}: {hint} is not in {}", ran.stderr);
}

#[test]
fn a_name_that_is_nothing_is_told_with_what_is_called_nearly_like_it() {
    // No terminal is here, and that is not what is wrong.
    refused(&["layres"], "there is no file, folder, sample or command `layres`", "did you mean `layers`?");
    refused(&["xbt"], "there is no file, folder, sample or command `xbt`", "did you mean `xbot`?");
    refused(
        &["nosuchcmd"],
        "there is no file, folder, sample or command `nosuchcmd`",
        "a name alone can also be a sample",
    );
    refused(&["layers", "omz"], "there is no file or folder `omz`", "did you mean `omx`?");
    refused(
        &["demo", "moved-brake"],
        "there is no demo and no file `moved-brake`",
        "did you mean `moved-break`?",
    );
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("agents")).expect("a folder");
    let slip = folder.path().join("agnets");
    let meant = folder.path().join("agents").display().to_string();
    refused(
        &["layers", &slip.display().to_string()],
        "there is no file or folder",
        &format!("did you mean `{meant}`?"),
    );
}

#[test]
fn a_model_that_nobody_knows_is_no_answer() {
    refused(&["models", "nosuch"], "nothing is known of the model `nosuch`", "`plywood models` lists");
    refused(&["models", "openai:gpt-5.44", "--json"], "nothing is known", "did you mean `openai:gpt-5.4`?");
}

/// A copy of a sample with one text replaced in its bench.
fn bench(name: &str, from: &str, to: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let sample = plywood::io::samples::find(name).expect("a sample");
    sample.copy_into(folder.path()).expect("a copy");
    let path = folder.path().join("bench.yaml");
    let text = fs::read_to_string(&path).expect("a bench");
    assert!(text.contains(from), "{from} is not in the bench");
    fs::write(path, text.replacen(from, to, 1)).expect("written");
    folder
}

#[test]
fn files_that_a_bench_misnames_are_told_with_what_is_there() {
    for (from, to, message, hint) in [
        (
            "template: reminder.md",
            "template: remider.md",
            "there is no file `remider.md`",
            "did you mean `reminder.md`?",
        ),
        (
            "schemas: tools.json",
            "schemas: tool.json",
            "there is no file `tool.json`",
            "did you mean `tools.json`?",
        ),
        ("path: project", "path: projct", "there is no folder `projct`", "did you mean `project`?"),
    ] {
        let folder = bench("xbot", from, to);
        refused(&["layers", &folder.path().display().to_string()], message, hint);
    }
    // What is read may come later, so it is no mistake; a name that is nearly there is told all the same.
    for (from, to, hint) in [
        ("skills: skills }", "skills: skils }", "did you mean `skills`?"),
        ("file: memory/recall.md", "file: memry/recall.md", "did you mean `memory/recall.md`?"),
        ("glob: \"agents/*.md\"", "glob: \"agnts/*.md\"", "did you mean `agents`?"),
    ] {
        let folder = bench("xbot", from, to);
        let ran = run(&["check", &folder.path().display().to_string()]);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("is not there, so nothing is read") && said.contains(hint), "{to}: {said}");
    }
    let folder = bench("xbot", "skills: skills }", "skills: quite/elsewhere }");
    let ran = run(&["check", &folder.path().display().to_string()]);
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("so nothing is read"));
}

#[test]
fn a_slip_in_a_demo_is_told_at_its_line() {
    let folder = bench("cache-lab", "bench: 1", "bench: 1");
    let path = folder.path().join("talk.yaml");
    let script = |beat: &str| {
        format!("demo: 1\ntitle: T\nabout: a\nbench: bench.yaml\nbeats:\n  - {{ say: one }}\n  - {beat}\n")
    };
    let shown = path.display().to_string();
    for (beat, message, place, hint) in [
        ("{ say: two, shw: why }", "`shw`", ":7:17", "did you mean `show`?"),
        ("{ say: two, show: wyh }", "`wyh` is no pane and no view", ":7:23", "did you mean `why`?"),
        ("{ say: two, run: nobody }", "no run is called `nobody`", ":7:22", "known here: "),
        ("{ say: two, call: none }", "`call`", ":7:23", ""),
        ("{ say: \"two {\" }", "a `{` is not closed", ":7:", ""),
        ("{ say: \"{call.99.lost}\" }", "the screen has no number `call.99.lost` there", ":7:", ""),
    ] {
        fs::write(&path, script(beat)).expect("written");
        let ran = run(&["demo", &shown, "--print"]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{beat}");
        for part in [message, &format!("{shown}{place}"), beat, hint] {
            assert!(ran.stderr.contains(part), "{beat}: {part} is not in {}", ran.stderr);
        }
    }
}

#[test]
fn layers_are_listed_with_the_ids_that_commands_take() {
    let ran = run(&["layers", "xbot"]);
    let row = ran.stdout.lines().find(|line| line.contains("00_base")).expect("the layer");
    assert!(row.contains("system_prompt"), "{}", ran.stdout);
    // Where titles and ids are the same there is no second column.
    let folder = tempfile::tempdir().expect("a folder");
    let text = "bench: 1\nname: own\nmodel: openai:gpt-5.4\nworkspace: { path: ., shown_as: /w, clock: \"2026-04-01T09:00:00Z\" }\n\
        places: { system: { of: system } }\nlayers: [ { id: base, in: system, from: { text: Be kind. } } ]\n";
    fs::write(folder.path().join("bench.yaml"), text).expect("written");
    let ran = run(&["layers", &folder.path().display().to_string()]);
    assert!(!ran.stdout.lines().next().expect("a heading").contains(" id "), "{}", ran.stdout);
}

#[test]
fn a_sample_is_copied_and_nothing_is_written_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("mine");
    let shown = own.display().to_string();
    let ran = run(&["samples", "copy", "cache-lab", &shown]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains(&format!("`plywood {shown}` opens it")), "{}", ran.stdout);
    assert_eq!(run(&["layers", &shown]).status, 0);
    fs::write(own.join("rules.md"), "mine\n").expect("written");
    refused(
        &["samples", "copy", "cache-lab", &shown],
        "is there already; nothing was copied",
        "ANOTHER-FOLDER",
    );
    assert_eq!(fs::read_to_string(own.join("rules.md")).expect("a file"), "mine\n");
    refused(
        &["samples", "copy", "cache-lap", &shown],
        "there is no sample `cache-lap`",
        "did you mean `cache-lab`?",
    );
    assert!(Path::new(&shown).join("bench.yaml").is_file());
}
