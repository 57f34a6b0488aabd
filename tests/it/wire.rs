//! Recorded bodies of four APIs, as different programs write them, go in and come out byte for byte.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use plywood::core::wire::lossless::Json;
use plywood::core::wire::spelling::Spelling;
use plywood::core::wire::{Document, Format, Item};

/// A fixture: the name without its spelling, the spelling, the text.
pub(crate) fn fixtures() -> Vec<(String, String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wire");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let fixture = |name: &String| {
        let mut parts = name.split('.');
        let mut part = || parts.next().expect("name.spelling.json").to_owned();
        (part(), part(), fs::read_to_string(folder.join(name)).expect("it is text"))
    };
    names.iter().map(fixture).collect()
}

fn format_of(name: &str) -> Format {
    match name {
        "anthropic" => Format::Anthropic,
        "chat" => Format::OpenaiChat,
        "responses" => Format::OpenaiResponses,
        "gemini" => Format::Gemini,
        other => panic!("{other}"),
    }
}

#[test]
fn each_format_is_there_in_three_spellings_and_more() {
    let fixtures = fixtures();
    for name in ["anthropic", "chat", "responses", "gemini"] {
        let spellings: Vec<&str> =
            fixtures.iter().filter(|(of, ..)| of == name).map(|(_, spelling, _)| spelling.as_str()).collect();
        for spelling in ["python", "pretty", "js", "go"] {
            assert!(spellings.contains(&spelling), "{name} as {spelling}");
        }
    }
}

#[test]
fn a_body_comes_out_as_it_went_in() {
    for (name, spelling, text) in fixtures() {
        let document = Document::read(text.as_str()).expect("it is a request");
        assert_eq!(document.format, format_of(&name), "{name} as {spelling}");
        // Every text is decoded and spelled again.
        assert_eq!(document.with(&|item: &Item| Some(item.text.clone())), text, "{name} as {spelling}");
    }
}

#[test]
fn every_text_is_spelled_as_its_program_does() {
    for (name, spelling, text) in fixtures() {
        let json = Json::parse(&text).expect("it is JSON");
        let learned = Spelling::of(&json, &text);
        let mut texts = 0;
        json.texts(&mut |span, decoded| {
            texts += 1;
            assert_eq!(learned.quote(decoded), &text[span.clone()], "{name} as {spelling}");
        });
        assert!(texts > 50, "{name} as {spelling} has {texts} texts");
    }
}

#[test]
fn the_spelling_does_not_change_what_is_read() {
    let shown = |text: &str| -> Vec<String> {
        let document = Document::read(text).expect("it is a request");
        // The spelling of numbers stays, so JSON is left out here.
        let text = |item: &Item| if item.texts.is_empty() { Arc::from("JSON") } else { item.text.clone() };
        let path = |item: &Item| item.path.clone();
        let items = document.items.iter();
        let items =
            items.map(|item| format!("{:?} {} {:?} {:?}", item.kind, path(item), text(item), item.mark));
        items.chain(document.settings.iter().map(|setting| setting.name.to_string())).collect()
    };
    let fixtures = fixtures();
    for name in ["anthropic", "chat", "responses", "gemini"] {
        let mut all = fixtures.iter().filter(|(of, ..)| of == name).map(|(.., text)| shown(text));
        let first = all.next().expect("there is one");
        assert!(all.all(|other| other == first), "{name}");
    }
}

/// An item in a line.
fn line(item: &Item) -> String {
    let mut text: String =
        item.text.chars().take(24).collect::<String>().replace('\n', "\\n").replace('\r', "\\r");
    if item.text.chars().nth(24).is_some() {
        text.push('…');
    }
    let call = item.call.map_or_else(String::new, |call| format!(" #{call}"));
    let mark = match item.mark {
        None => String::new(),
        Some(mark) => format!(" mark {}", mark.ttl.map_or_else(|| "-".to_owned(), |ttl| ttl.to_string())),
    };
    let name = [&*item.name, &*item.tool].join(" ");
    format!("{} {:?} {}{call}{mark} {text}", item.path, item.kind, name.trim()).replace("  ", " ")
}

#[test]
fn a_body_of_each_format_is_understood() {
    let fixtures = fixtures();
    let lines = |name: &str| -> String {
        let (.., text) =
            fixtures.iter().find(|(of, spelling, _)| of == name && spelling == "js").expect(name);
        let document = Document::read(text.as_str()).expect("it is a request");
        let settings: Vec<String> =
            document.settings.iter().map(|s| format!("{}={:.12}", s.name, s.value)).collect();
        let items: Vec<String> = document.items.iter().map(line).collect();
        format!("{}\n{}\n{}", document.model.as_deref().unwrap_or("-"), settings.join(" "), items.join("\n"))
    };
    let all =
        ["anthropic", "chat", "responses", "gemini"].map(|name| format!("== {name}\n{}\n", lines(name)));
    insta::assert_snapshot!(all.join("\n"));
}
