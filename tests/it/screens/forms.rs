//! The properties of layers and of the bench: what the form shows, what keys do to the file, and what is said of it.

use plywood::app::engine::Disk;
use plywood::app::state::OverlayKind;
use plywood::io::samples;

use super::day::{BENCH, Day, has, machine};

const MOOD: &str = "  - id: mood\n    in: system\n";

fn bench(day: &Day) -> String {
    day.read("bench.yaml")
}

/// The box that is open, without what lies around it: other panes change for their own reasons.
fn boxed(screen: &str, title: &str) -> String {
    let lines: Vec<Vec<char>> = screen.lines().map(|line| line.chars().collect()).collect();
    let corner: Vec<char> = format!("┌─ {title}").chars().collect();
    let at = |line: &Vec<char>| line.windows(corner.len()).position(|piece| *piece == corner[..]);
    let (top, left) = lines.iter().enumerate().find_map(|(row, line)| Some((row, at(line)?))).expect("a box");
    let mut shown = String::new();
    for line in &lines[top..] {
        let row: String = line[left.min(line.len())..].iter().collect();
        shown.push_str(row.trim_end_matches(['│', '┘', '┐', ' ']));
        shown.push('\n');
        if row.starts_with('└') {
            break;
        }
    }
    shown
}

#[test]
fn a_form_says_what_the_file_says_and_where() {
    let disk = Disk::sample(&samples::samples()[0], "sample, scratch copy", &machine()).expect("a sample");
    let mut day = Day::on(disk, None, (120, 40));
    let screen = day.press("1jP");
    insta::assert_snapshot!("form_layer_120x40", boxed(&screen, "Layer 00_base"));
    let screen = day.press("<esc>Vj<space><esc>P");
    has(&screen, "while the variant rebuild_system is on: call");
    let disk = Disk::sample(&samples::samples()[0], "sample, scratch copy", &machine()).expect("a sample");
    let mut day = Day::on(disk, None, (80, 24));
    insta::assert_snapshot!("form_bench_80x24", boxed(&day.press("P"), "Bench, in"));
}

#[test]
fn values_are_chosen_and_written_and_taken_back() {
    let mut day = Day::new();
    // The third row of the layers: `mood`.
    let screen = day.press("1jjjP");
    has(&screen, "Layer mood, bench.yaml:14");
    // Its place: the choices are the places, what is written is selected.
    let screen = day.press("<enter>");
    has(&screen, "> system  the system prompt");
    has(&screen, "  user    the current user message");
    let screen = day.press("j<enter>");
    assert_eq!(bench(&day), BENCH.replace(MOOD, &MOOD.replace("in: system", "in: user")));
    assert_eq!(day.open(), Some(OverlayKind::Form), "{screen}");
    has(&screen, "mood goes to user; written to ");
    has(&screen, "place        user");
    day.press("u");
    assert_eq!(bench(&day), BENCH);
    let screen = day.press("<ctrl-r>");
    has(&screen, "made again in ");
    day.press("u");
    // When it is made again; then the default again, without a line of its own.
    day.press("jjjj<enter>j<enter>");
    let with = BENCH.replace("        Be {{ mood }}.\n", "        Be {{ mood }}.\n    refresh: call\n");
    assert_eq!(bench(&day), with);
    let screen = day.press("<delete>");
    assert_eq!(bench(&day), BENCH);
    has(&screen, "mood has its default refresh again");
    has(&screen, "not written: the default; when it is made again");
    // What becomes of its text in messages, in a map that is made for it.
    day.press("j<enter>j<enter>j<enter>j<enter>");
    let keep = "    keep: { earlier: strip, persist: strip }\n";
    assert!(bench(&day).contains(keep), "{}", bench(&day));
    // What is said already is not written again, and what was chosen stays open.
    let screen = day.press("<enter><enter>");
    has(&screen, "the bench says so already");
    assert_eq!(day.open(), Some(OverlayKind::Choice));
}

#[test]
fn values_are_typed_and_refused_where_they_are_wrong() {
    let mut day = Day::new();
    // A condition that cannot be: the line stays open, and nothing is written.
    let screen = day.press("1jjjPj<enter>mood ==<enter>");
    has(&screen, "! the bench would be wrong: ");
    assert_eq!((bench(&day).as_str(), day.open()), (BENCH, Some(OverlayKind::Value)));
    day.press(" \"calm\"<enter>");
    let with = BENCH.replace("    from:\n      text", "    when: mood == \"calm\"\n    from:\n      text");
    assert_eq!(bench(&day), with);
    assert_eq!(day.open(), Some(OverlayKind::Form));
    // It can be mended from what is there, and taken out.
    let screen = day.press("<enter>");
    has(&screen, "> mood == \"calm\"");
    day.press("<ctrl-u><enter>");
    assert_eq!(bench(&day), BENCH);
    // A number is a number.
    let screen = day.press("jj<enter><ctrl-u>soon<enter>");
    has(&screen, "! a whole number is wanted");
    day.press("<ctrl-u>7<enter>");
    assert!(bench(&day).contains("    run: 7\n"), "{}", bench(&day));
}

#[test]
fn facts_agent_and_marks_are_changed_in_the_file_or_in_this_run() {
    let mut day = Day::new();
    let screen = day.press("2P");
    has(&screen, "Bench, in bench.yaml");
    has(&screen, "model openai:gpt-5.4");
    // A field of the agent, in a map that is not there yet.
    day.press("j<enter>session: s-7<enter>");
    let agent = "name: day\nagent: { session: s-7 }\nmodel";
    assert_eq!(bench(&day), BENCH.replace("name: day\nmodel", agent));
    day.press("u");
    // A fact in this run alone: the file stays, and the form says so.
    let screen = day.press("j<enter><ctrl-u>bold<ctrl-t>");
    assert_eq!(bench(&day), BENCH);
    has(&screen, "mood is bold in this run; the bench file stays as it is");
    has(&screen, "in this run alone: bold, by a change of mood by hand");
    // The same in the file.
    let screen = day.press("<enter><ctrl-u>bold<enter>");
    assert_eq!(bench(&day), BENCH.replace("mood: calm", "mood: bold"));
    has(&screen, "facts.mood is bold; written to ");
    assert!(!screen.contains("in this run alone"), "{screen}");
    // A fact more, and gone again.
    day.press("j<enter>plan: { a: [1, x] }<enter>");
    assert!(bench(&day).contains("facts: { mood: bold, plan: { a: [1, x] } }"), "{}", bench(&day));
    let screen = day.press("<delete>");
    assert!(bench(&day).contains("facts: { mood: bold }"), "{}", bench(&day));
    has(&screen, "facts.plan is gone");
    // A cache mark, its life, and gone.
    day.press("j<enter>j<enter>");
    assert!(bench(&day).contains("\nmarks: [{ at: last_history }]\n"), "{}", bench(&day));
    let screen = day.press("<enter>j<enter>");
    assert!(bench(&day).contains("\nmarks: [{ at: last_history, ttl: 1h }]\n"), "{}", bench(&day));
    has(&screen, "the life of the mark at last_history is 1h");
    day.press("<delete>");
    assert!(!bench(&day).contains("marks:"), "{}", bench(&day));
    // The model, into the bench.
    day.press("<esc>P<enter>claude-sonnet-4-5<enter>");
    assert!(bench(&day).contains("model: anthropic:claude-sonnet-4-5\n"), "{}", bench(&day));
    assert_eq!(day.open(), Some(OverlayKind::Form));
    let screen = day.press("<delete>");
    has(&screen, "model has to be there");
}

#[test]
fn a_bench_that_is_part_of_the_program_has_no_form() {
    let folder = tempfile::TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("AGENTS.md"), "rules").expect("a file");
    let mut day = Day::on(Disk::open(folder.path(), &machine()).expect("a folder"), Some(folder), (120, 40));
    let screen = day.press("1P");
    assert_eq!(day.open(), None);
    has(&screen, "this folder has no bench file to change; `plywood init` writes one");
}
