//! Settings, themes, keys and model data, as the commands print and check them.

use std::fs;
use std::path::PathBuf;

use crate::cli::{Ran, plywood};

/// A folder of settings.
struct Place(tempfile::TempDir);

impl Place {
    fn new(config: &str) -> Place {
        let place = Place(tempfile::tempdir().expect("a folder"));
        place.write("config.yaml", config);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// Runs the program with these settings, and with these variables.
    fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = plywood();
        command.args(args).env("PLYWOOD_CONFIG_DIR", self.0.path());
        let output = command.envs(variables.iter().copied()).output().expect("the program starts");
        Ran {
            status: output.status.code().expect("it ends by itself"),
            stdout: String::from_utf8(output.stdout).expect("data is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("messages are UTF-8"),
        }
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, &[])
    }

    fn json(&self, args: &[&str]) -> serde_json::Value {
        let ran = self.run(args);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{args:?}");
        serde_json::from_str(&ran.stdout).expect("JSON")
    }
}

#[test]
fn config_says_where_each_value_comes_from() {
    let place = Place::new("theme: light\nmouse: false\n");
    let ran = place.run_with(&["config"], &[("PLYWOOD_WATCH", "poll")]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let rows: Vec<Vec<&str>> = ran.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    let file = format!("{}/config.yaml", place.0.path().display());
    assert!(rows.contains(&vec!["theme", "light", &format!("{file}:1"), "PLYWOOD_THEME"]), "{}", ran.stdout);
    assert!(rows.contains(&vec!["mouse", "false", &format!("{file}:2"), "PLYWOOD_MOUSE"]), "{}", ran.stdout);
    assert!(rows.contains(&vec!["watch", "poll", "PLYWOOD_WATCH", "PLYWOOD_WATCH"]), "{}", ran.stdout);
    assert!(rows.contains(&vec!["color", "auto", "default", "PLYWOOD_COLOR"]), "{}", ran.stdout);
    let json = place.json(&["config", "--json"]);
    assert_eq!(json["schema"], "plywood.config/1");
    assert_eq!(json["path"], file.as_str());
    assert_eq!(json["settings"][0]["value"], "light");
}

#[test]
fn the_printed_settings_file_is_one() {
    let printed = Place::new("").run(&["config", "--default"]);
    assert_eq!((printed.status, printed.stderr.as_str()), (0, ""));
    for key in ["theme", "color", "mouse", "watch", "show_keys", "animations", "clipboard", "models", "keys"]
    {
        assert!(printed.stdout.contains(&format!("\n# {key}: ")), "{key}");
    }
    let place = Place::new(&printed.stdout);
    assert_eq!(place.run(&["config"]).status, 0);
    let path = place.run(&["config", "--path"]);
    assert_eq!(path.stdout.trim_end(), place.path("config.yaml").display().to_string());
    insta::assert_snapshot!("config_default", printed.stdout);
}

#[test]
fn the_file_lies_where_people_look_for_it() {
    let run = |name: &str, value: &str| {
        let output = plywood().args(["config", "--path"]).env(name, value).output().expect("it starts");
        String::from_utf8(output.stdout).expect("a path")
    };
    assert_eq!(run("HOME", "/home/me"), "/home/me/.config/plywood/config.yaml\n");
    assert_eq!(run("XDG_CONFIG_HOME", "/conf"), "/conf/plywood/config.yaml\n");
    assert_eq!(run("PLYWOOD_CONFIG_DIR", "/own"), "/own/config.yaml\n");
}

#[test]
fn a_broken_file_is_told_with_its_line_and_stops_commands_that_follow_it() {
    let place = Place::new("mouse: true\nthme: dark\n");
    for args in [&["config"][..], &["keys"], &["models"], &["layers", "samples/xbot"]] {
        let ran = place.run(args);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{args:?}");
        let file = place.path("config.yaml").display().to_string();
        let want = format!(
            "error: unknown key `thme` in the settings\n --> {file}:2:1\n  |\n2 | thme: dark\n  | ^\n  = hint: did you mean `theme`?\n"
        );
        assert_eq!(ran.stderr, want, "{args:?}");
    }
    // What needs no settings goes on, so that it can be mended.
    for args in [&["config", "--default"][..], &["config", "--path"], &["samples"], &["schema"], &["man"]] {
        assert_eq!(place.run(args).status, 0, "{args:?}");
    }
    let doctor = place.run(&["doctor"]);
    assert_eq!(doctor.status, 1);
    assert!(doctor.stdout.contains("problem: settings file: error: unknown key `thme`"), "{}", doctor.stdout);
}

#[test]
fn a_file_that_was_named_has_to_be_there() {
    let place = Place::new("");
    place.write("other.yaml", "keys: { send: f5 }\n");
    let other = place.path("other.yaml").display().to_string();
    let ran = place.run(&["keys", "--config", &other]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.lines().any(|line| line.starts_with("F5 (yours)")), "{}", ran.stdout);
    let ran = place.run(&["keys", "--config", "nowhere.yaml"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.starts_with("error: the settings cannot be read: "), "{}", ran.stderr);
}

#[test]
fn wrong_variables_are_told_by_name() {
    let ran = Place::new("").run_with(&["config"], &[("PLYWOOD_MOUSE", "maybe")]);
    assert_eq!(
        (ran.status, ran.stderr.as_str()),
        (2, "error: PLYWOOD_MOUSE: `mouse` cannot be `maybe`\n  = hint: `true` or `false`\n")
    );
}

#[test]
fn keys_print_the_effective_map_and_conflicts_are_errors() {
    let place = Place::new("keys:\n  send: [space, f5]\n  quit: []\n");
    let json = place.json(&["keys", "--json"]);
    let action =
        |id: &str| json["actions"].as_array().unwrap().iter().find(|row| row["id"] == id).unwrap().clone();
    assert_eq!(
        (&action("send")["keys"], &action("send")["rebound"]),
        (&serde_json::json!(["Space", "F5"]), &true.into())
    );
    assert_eq!(action("quit")["keys"], serde_json::json!([]));
    assert_eq!(action("back")["rebound"], false);

    place.write("config.yaml", "keys:\n  send: z\n  foo: x\n");
    let ran = place.run(&["keys"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("error: `z` already means `zoom` (Zoom the pane)\n --> "), "{}", ran.stderr);
    assert!(ran.stderr.contains("config.yaml:2:9"), "{}", ran.stderr);
    assert!(ran.stderr.contains("error: there is no action `foo`"), "{}", ran.stderr);
}

#[test]
fn a_bench_says_how_it_is_shown_and_nothing_more() {
    let place = Place::new("");
    let bench = "bench: 1\nname: b\nmodel: a:b\nplaces: {}\nlayers: []\n";
    place.write("bench.yaml", &format!("{bench}settings: {{ theme: light, show_keys: true }}\n"));
    let path = place.path("bench.yaml").display().to_string();
    let ran = place.run(&["layers", &path]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    place.write("bench.yaml", &format!("{bench}settings: {{ models: mine.yaml }}\n"));
    let ran = place.run(&["layers", &path]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("unknown key `models` in the `settings` of a bench"), "{}", ran.stderr);
}

#[test]
fn themes_are_listed_printed_and_shown() {
    let place = Place::new("theme: mine\n");
    place.write("themes/mine.yaml", "about: green as grass\ninherits: dark\nroles: { title: accent bold }\n");
    place.write("themes/torn.yaml", "roles: { title: gren }\n");
    let ran = place.run(&["themes", "--list"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let line = |name: &str| {
        ran.stdout.lines().find(|line| line[1..].trim_start().starts_with(name)).unwrap().to_owned()
    };
    assert!(line("mine").starts_with('>') && line("mine").ends_with("green as grass"), "{}", ran.stdout);
    assert!(line("dark").contains("built in"), "{}", ran.stdout);
    assert!(line("torn").contains("! `gren` is no colour ("), "{}", ran.stdout);

    let dark = place.run(&["themes", "dark"]);
    assert_eq!(dark.stdout, fs::read_to_string("themes/dark.yaml").expect("the theme"));
    // What is printed is a theme, under any name.
    place.write("themes/copy.yaml", &dark.stdout);
    let roles = |name: &str| place.json(&["themes", name, "--json"])["themes"][0]["roles"].clone();
    assert_eq!(roles("copy"), roles("dark"));
    assert!(
        roles("mine")
            .as_array()
            .unwrap()
            .iter()
            .any(|role| role["role"] == "title" && role["style"] == "#7dcfff bold")
    );

    let sample = place.run(&["themes", "dark", "--sample"]);
    assert_eq!(sample.status, 0);
    assert!(
        sample.stdout.contains("search.current") && sample.stdout.contains("on #ff9e64 bold"),
        "{}",
        sample.stdout
    );
    let painted = place.run(&["themes", "dark", "--sample", "--color", "always"]);
    assert!(painted.stdout.contains("\u{1b}[38;2;26;27;38;48;2;255;158;100;1m"), "{}", painted.stdout);

    let ran = place.run(&["themes", "drak"]);
    assert_eq!(
        (ran.status, ran.stderr.as_str()),
        (2, "error: there is no theme `drak`\n  = hint: did you mean `dark`?\n")
    );
    let ran = place.run(&["themes", "torn", "--sample"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("torn.yaml:1:17"), "{}", ran.stderr);
}

#[test]
fn models_say_what_is_known_and_from_where() {
    let place = Place::new("");
    let ran = place.run(&["models"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let line = ran.stdout.lines().find(|line| line.starts_with("openai:gpt-5.4 ")).expect("the model");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[..8], ["openai:gpt-5.4", "block", "1,024", "2.50", "0.25", "no", "fee", "15.00"]);
    let one = place.run(&["models", "openai:gpt-5.4"]).stdout;
    for want in [
        "openai:gpt-5.4\n",
        "1,024 tokens",
        "developers.openai.com, Prompt caching",
        "2026-09-23",
        "price, input  ",
    ] {
        assert!(one.contains(want), "{want} in\n{one}");
    }
    let unknown = place.run(&["models", "acme:two"]);
    assert_eq!((unknown.status, unknown.stdout.as_str()), (2, ""));
    assert!(unknown.stderr.contains("nothing is known of the model `acme:two`"), "{}", unknown.stderr);
    let slip = place.run(&["models", "openai:gtp-5.4"]).stderr;
    assert!(slip.contains("did you mean `openai:gpt-5.4`?"), "{slip}");
}

#[test]
fn own_model_data_is_used_everywhere_and_checked() {
    let place = Place::new("");
    place.write(
        "models.yaml",
        "models:\n  \"openai:gpt-5.4\":\n    prices: [ { input: \"7.25\", read: \"1\", output: \"9\" } ]\n",
    );
    let json = place.json(&["models", "openai:gpt-5.4", "--json"]);
    assert!(json["revisions"]["models"].as_str().unwrap().ends_with(" + yours"), "{json}");
    let price = json["models"][0]["values"]
        .as_array()
        .unwrap()
        .iter()
        .find(|value| value["name"] == "price, input")
        .unwrap()
        .clone();
    assert_eq!((price["source"].as_str(), price["confidence"].as_str()), (Some("your file"), Some("yours")));
    let run = place.run(&["run", "samples/xbot", "--until", "1", "--json"]).stdout;
    assert!(run.contains(" + yours"), "{run}");

    place.write("models.yaml", "models:\n  \"openai:gpt-5.4\": { prises: [] }\n");
    let ran = place.run(&["layers", "samples/xbot"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("prises") && ran.stderr.contains("models.yaml:2:"), "{}", ran.stderr);

    // Another file, named in the settings, from beside them.
    place.write("config.yaml", "models: own/mine.yaml\n");
    let ran = place.run(&["models"]);
    assert_eq!(ran.status, 2);
    assert!(
        ran.stderr.contains("own/mine.yaml` cannot be read") && ran.stderr.contains("config.yaml:1:9"),
        "{}",
        ran.stderr
    );
}

#[test]
fn messages_are_coloured_only_where_that_is_wanted() {
    let place = Place::new("thme: dark\n");
    assert!(!place.run(&["keys"]).stderr.contains('\u{1b}'));
    let painted = place.run(&["keys", "--color", "always"]);
    assert!(painted.stderr.starts_with("\u{1b}[1;31merror\u{1b}[0m"), "{}", painted.stderr);
    let ran = place.run(&["keys", "--color", "sometimes"]);
    assert_eq!(ran.status, 2);
    assert!(place.run(&["--help", "--color", "always"]).stdout.contains('\u{1b}'));
    assert!(!place.run(&["--help", "--color", "never"]).stdout.contains('\u{1b}'));
}

#[test]
fn the_log_is_written_where_doctor_says() {
    let place = Place::new("");
    let state = place.path("state");
    let variables = [("PLYWOOD_LOG", "debug"), ("XDG_STATE_HOME", state.to_str().expect("UTF-8"))];
    let ran = place.run_with(&["doctor", "--json"], &variables);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let log = json["checks"].as_array().unwrap().iter().find(|check| check["name"] == "log").unwrap().clone();
    let path = state.join("plywood/plywood.log");
    assert_eq!((log["value"].as_str(), log["origin"].as_str()), (path.to_str(), Some("PLYWOOD_LOG")));
    let text = fs::read_to_string(path).expect("the log");
    assert!(text.contains(&format!("plywood {} starts", env!("CARGO_PKG_VERSION"))), "{text}");
    assert_eq!(ran.stderr, "", "nothing of it reaches the screen");

    let silent = Place::new("");
    let state = silent.path("state");
    silent.run_with(&["samples"], &[("XDG_STATE_HOME", state.to_str().expect("UTF-8"))]);
    assert!(!state.exists(), "nobody asked for a log");
}
