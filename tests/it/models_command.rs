//! `models`: what is known of a model, under which names it is found, and what a file of one's own may do wrong.

use std::fs;
use std::process::{Command, Output};

fn models(args: &[&str], own: Option<&str>) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_plywood"));
    command.arg("models").args(args);
    if let Some(own) = own {
        let path = folder.path().join("mine.yaml");
        fs::write(&path, own).expect("it can be written");
        command.env("PLYWOOD_MODELS", path);
    }
    command.output().expect("the program runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

#[test]
fn a_model_is_found_by_its_own_name_and_others_are_proposed() {
    let whole = stdout(&models(&["openai:gpt-5.4"], None));
    assert_eq!(stdout(&models(&["gpt-5.4"], None)), whole);
    let both = stdout(&models(&["qwen3.7-max"], None));
    assert!(both.contains("qwen:qwen3.7-max\n") && both.contains("qwen-implicit:qwen3.7-max\n"), "{both}");
    for (asked, hint) in [
        ("openai:gtp-5.4", "did you mean `openai:gpt-5.4`?"),
        ("gtp-5.4", "did you mean `gpt-5.4`?"),
        ("claude-sonnet", "did you mean `claude-sonnet-5`?"),
        ("sonnet", "known are anthropic:claude-sonnet-5-5, "),
    ] {
        let output = models(&[asked], None);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("`{asked}`")) && said.contains(hint), "{said}");
    }
}

#[test]
fn every_figure_says_where_it_is_from() {
    let text = stdout(&models(&["anthropic:claude-sonnet-5"], None));
    let row = |name: &str| {
        text.lines()
            .find(|line| line.starts_with(name))
            .unwrap_or_else(|| panic!("{name}: {text}"))
            .to_owned()
    };
    for (name, value) in [
        ("effort, where it is not given", "high"),
        ("price with batch true", "x0.5"),
        ("price with inference_geo us", "x1.1"),
        ("price with speed fast", "n/a: another price"),
        ("results of the provider's own tools", "get a mark of 5 min"),
    ] {
        assert!(row(name).contains(value), "{}", row(name));
        assert!(row(name).ends_with(['A', 'B', 'C', 'D']), "{}", row(name));
    }
    let own = "models:\n  \"acme:server\": { like: \"vllm:local\", block: { room: { value: 400000 } } }\n";
    let text = stdout(&models(&["acme:server"], Some(own)));
    let room = text.lines().find(|line| line.starts_with("room  ") && line.contains("400,000 tokens"));
    assert!(room.is_some_and(|line| line.contains("your file") && line.ends_with("yours")), "{text}");
}

#[test]
fn a_mistake_in_a_file_of_ones_own_is_told_with_its_place_and_a_way_out() {
    for (own, parts) in [
        (
            "models:\n  \"openai:gpt-5.4\":\n    blok: { min: { value: 1 } }\n",
            ["unknown key `blok`", "mine.yaml:3:5", "did you mean `block`?"],
        ),
        (
            "models:\n  \"a:b\":\n    radix: { pages: { value: 1 } }\n",
            ["unknown key `pages`", "mine.yaml:3:14", "did you mean `page`?"],
        ),
        (
            "models:\n  \"a:b\":\n    like: claude\n    prices: [ { input: two, read: \"1\" } ]\n",
            ["`two` is not a price", "mine.yaml:4:24", "two"],
        ),
    ] {
        let output = models(&["openai:gpt-5.4"], Some(own));
        let told = String::from_utf8(output.stderr.clone()).expect("UTF-8");
        assert_eq!(output.status.code(), Some(2), "{told}");
        for part in parts {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}
