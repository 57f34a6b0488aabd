//! The views on the samples, in three sizes, and what keys do in them.

use plywood::app::engine::Disk;
use plywood::app::event::{Event, Pointer, Target};
use plywood::app::state::{Pane, View};
use plywood::core::wire::CallNo;
use tempfile::TempDir;

use super::day::{Day, body, has, machine};

fn plain(size: (u16, u16)) -> Day {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("AGENTS.md"), "# Rules\n").expect("a file");
    let disk = Disk::open(folder.path(), &machine()).expect("a bench");
    Day::on(disk, Some(folder), size)
}

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

#[test]
fn views_of_xbot_in_three_sizes() {
    for (width, height) in SIZES {
        // Before the second call the change of the CWD is staged.
        let mut day = Day::sample("xbot", (width, height));
        day.press("<space>");
        for (name, keys) in [("orders", "o"), ("ledger", "l"), ("injectors", "i"), ("log", "L")] {
            let screen = body(&day.press(keys));
            insta::assert_snapshot!(format!("view_xbot_{name}_{width}x{height}"), screen);
        }
        // At the end everything has been told, stripped and rebuilt.
        day.press("<space><space><space><space><space>");
        for (name, keys) in [("ledger", "l"), ("injectors", "i"), ("log", "L")] {
            let screen = body(&day.press(keys));
            insta::assert_snapshot!(format!("view_xbot_end_{name}_{width}x{height}"), screen);
        }
    }
}

#[test]
fn views_of_omx_in_three_sizes() {
    for (width, height) in SIZES {
        let mut day = Day::sample("omx", (width, height));
        day.press("<space><space>");
        for (name, keys) in [("orders", "o"), ("ledger", "l"), ("injectors", "i"), ("log", "L")] {
            let screen = body(&day.press(keys));
            insta::assert_snapshot!(format!("view_omx_{name}_{width}x{height}"), screen);
        }
    }
}

/// Four steps: the context is in the messages, the search was called, a second model started and answered, then refused.
#[test]
fn the_steps_of_a_search_in_three_sizes() {
    for (width, height) in SIZES {
        let mut day = Day::sample("wegent", (width, height));
        let screen = day.press("K");
        has(&screen, "Was the search called?");
        has(&screen, "not in this turn");
        insta::assert_snapshot!(format!("view_wegent_steps_before_{width}x{height}"), body(&screen));
        // The run whose documents may be searched and not read: answered in its first turn, refused in its second.
        has(&day.press("<esc>R<down><enter>K<space>"), "Did it answer or refuse?  answered");
        let screen = body(&day.press("<space><space>"));
        insta::assert_snapshot!(format!("view_wegent_steps_refused_{width}x{height}"), screen);
    }
    let mut day = Day::sample("xbot", (80, 24));
    has(&day.press("K"), "No tool of this bench searches documents");
}

#[test]
fn a_plain_folder_has_nothing_to_inject_and_says_so() {
    for (width, height) in SIZES {
        let mut day = plain((width, height));
        for (name, keys) in [("orders", "o"), ("ledger", "l"), ("injectors", "i"), ("log", "L")] {
            let screen = body(&day.press(keys));
            insta::assert_snapshot!(format!("view_plain_{name}_{width}x{height}"), screen);
        }
    }
}

#[test]
fn a_number_of_the_ledger_leads_to_its_bytes_and_they_to_their_source() {
    let mut day = Day::sample("xbot", (120, 40));
    day.press("<space>l");
    assert_eq!(day.state.view, View::Ledger);
    // The third message, in the column of what is sent, persisted, replayed.
    let screen = day.press("jj<right><enter>");
    assert_eq!(day.state.view, View::Bytes);
    has(&screen, "message 4 (tool), sent in call 2");
    has(&screen, "<dynamic-context>");
    let screen = day.press("<right>");
    has(&screen, "message 4 (tool), persisted after turn 1, ! differs at byte 35");
    assert!(!screen.contains("<dynamic-context>"), "{screen}");
    let screen = day.press("<right>");
    has(&screen, "message 4 (tool), replayed in call 5");
    // Esc goes one level up, to the same line and column.
    day.press("<esc>");
    assert_eq!((day.state.view, day.state.here().list.cursor, day.state.here().column), (View::Ledger, 2, 1));
    // The text that a layer put there, and from it to the line of its template.
    let screen = day.press("jj<enter>");
    has(&screen, "message 4 (tool), sent in call 2");
    assert!(day.state.request.cursor >= 35, "{}", day.state.request.cursor);
    day.press("je");
    let editor = day.state.editor.as_ref().expect("an editor");
    assert_eq!(&*editor.file, "dynamic.md");
    day.press("<esc>");
    assert_eq!(day.state.view, View::Bytes);
    // What is not there has no bytes.
    day.press("<esc><right>");
    let screen = day.press("<enter>");
    assert_eq!(day.state.view, View::Ledger);
    has(&screen, "is not persisted with this message");
    day.press("<esc>");
    assert_eq!(day.state.view, View::Main);
}

#[test]
fn what_was_said_leads_to_its_line_in_the_script() {
    let mut day = Day::sample("xbot", (120, 40));
    // The answer of the model, in message 3.
    day.press("<space>lj<right><enter>e");
    let editor = day.state.editor.as_ref().expect("an editor");
    assert_eq!(&*editor.file, "bench.yaml");
    let line = editor.document.line(editor.cursor.row).to_owned();
    assert!(line.contains("call: [{ Cd: { path: api } }]"), "{line}");
}

#[test]
fn messages_of_the_ledger_fold() {
    let mut day = Day::sample("xbot", (120, 40));
    let screen = day.press("<space>l");
    has(&screen, "stripped by persist: strip at the answer to call 4");
    let screen = day.press("jj<enter>");
    assert!(!screen.contains("stripped by"), "{screen}");
    has(&day.press("<enter>"), "stripped by persist: strip");
    // It stays folded whatever is published.
    day.press("<enter>");
    day.publish();
    let screen = day.draw();
    assert!(!screen.contains("stripped by"), "{screen}");
}

#[test]
fn an_announcement_leads_to_its_bytes_in_its_call() {
    let mut day = Day::sample("xbot", (120, 40));
    day.press("<space><space><space><space>i");
    has(&day.draw(), "told in call 2, message 4");
    // The line about the change itself.
    while !day.state.page.lines[day.state.here().list.cursor]
        .cells
        .iter()
        .any(|cell| cell.text.contains("told in call 2, message"))
    {
        day.press("j");
    }
    day.press("<enter>");
    assert_eq!((day.state.view, day.state.focus), (View::Main, Pane::Request));
    assert_eq!(day.state.snapshot.request.call, CallNo(2));
    let block = day.state.block().expect("a block");
    assert_eq!(&*block.title, "message 4 (tool)");
    let text = &block.text.text()[day.state.request.cursor..];
    assert!(text.trim_start().starts_with("<dynamic-context>"), "{text}");
}

#[test]
fn the_log_leads_to_calls_and_filters() {
    let mut day = Day::sample("xbot", (120, 40));
    day.press("<space><space>L");
    // It begins at the call that is shown, and follows it.
    let at = |day: &Day| {
        let line = &day.state.page.lines[day.state.here().list.cursor];
        line.cells.iter().map(|cell| &*cell.text).collect::<Vec<_>>().join("|")
    };
    assert_eq!(at(&day), "> 3|call|call 2 is answered: Read, Shell");
    day.press("<backspace>");
    assert_eq!(at(&day), "> 2|call|call 1 is answered: Cd");
    let screen = day.press("/handler<enter>");
    has(&screen, "Read path: handler.rs");
    has(&screen, "lines with \"handler\"");
    assert!(!screen.contains("Cd path: api"), "{screen}");
    // What it hangs on stays; Esc shows everything again, and stays in the log.
    has(&screen, "call 2 is answered");
    let screen = day.press("<esc>");
    has(&screen, "Cd path: api");
    assert_eq!(day.state.view, View::Log);
    day.press("g<enter>");
    assert_eq!((day.state.view, day.state.snapshot.request.call), (View::Main, CallNo(1)));
}

#[test]
fn the_log_says_who_changed_what() {
    let mut day = Day::new();
    day.press("<space>");
    day.write("project/AGENTS.md", "another rule\n");
    let screen = day.press("L");
    has(&screen, "the edit of AGENTS.md");
    has(&screen, "AGENTS.md: 11 chars -> 13 chars");
    // From the line to the file.
    day.press("G");
    while !day.state.page.lines[day.state.here().list.cursor].cells.iter().any(|cell| cell.text == "file") {
        day.press("k");
    }
    day.press("e");
    assert_eq!(&*day.state.editor.as_ref().expect("an editor").file, "AGENTS.md");
}

#[test]
fn orders_lead_to_bytes_and_to_templates() {
    let mut day = Day::sample("xbot", (80, 24));
    let screen = day.press("o");
    has(&screen, "╲╱");
    day.press("gjj");
    let screen = day.draw().split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "05_project_hint runs as 2 (run: 1), stands as 3 in system (by key); crosses 05_channel";
    assert!(screen.contains(words), "{screen}");
    day.press("<enter>");
    assert_eq!((day.state.view, day.state.focus), (View::Main, Pane::Request));
    let block = day.state.block().expect("a block");
    let part = block.parts.iter().find(|part| part.range.contains(&(day.state.request.cursor + 1)));
    assert_eq!(part.and_then(|part| part.layer.as_deref()), Some("project_hint"));
    day.press("oe");
    assert!(day.state.editor.is_some());
}

#[test]
fn pane_4_leads_to_bytes_and_to_placeholders() {
    let mut day = Day::sample("xbot", (120, 40));
    day.press("<space>");
    for (label, block, file) in
        [("told by", "message 4 (tool)", "dynamic.md"), ("still old", "system", "prompt.md")]
    {
        day.press("4g");
        let cells = day.state.metrics.panes[Pane::Why.index()].0;
        let lines = plywood::app::rows::why_lines(&day.state.snapshot, cells, false);
        let line = lines.iter().position(|line| line.label.contains(label)).expect("a line");
        for _ in 0..line {
            day.press("j");
        }
        day.press("e");
        assert_eq!(&*day.state.editor.as_ref().expect("an editor").file, file, "{label}");
        day.press("<esc>");
        day.press("4<enter>");
        assert_eq!(day.state.focus, Pane::Request, "{label}");
        assert_eq!(&*day.state.block().expect("a block").title, block, "{label}");
    }
}

#[test]
fn b_goes_to_the_next_break_at_its_byte() {
    let mut day = Day::sample("xbot", (120, 40));
    day.press("<space>b");
    assert_eq!(day.state.snapshot.request.call, CallNo(5));
    assert_eq!(day.state.focus, Pane::Request);
    let block = day.state.block().expect("a block");
    assert_eq!(&*block.title, "system");
    let row = &block.text.text()[day.state.request.cursor..];
    assert!(row.starts_with("CWD: /home/shop/api"), "{row}");
}

#[test]
fn a_click_selects_and_a_second_one_opens() {
    let mut day = Day::sample("xbot", (120, 40));
    day.press("<space>L");
    let click = |day: &mut Day, line| day.happen(Event::Pointer(Pointer::Press, Target::ViewLine(line, 2)));
    click(&mut day, 0);
    assert_eq!((day.state.view, day.state.here().list.cursor), (View::Log, 0));
    click(&mut day, 0);
    assert_eq!((day.state.view, day.state.snapshot.request.call), (View::Main, CallNo(1)));
    // The verdict speaks of a call that is forecast: a click sends nothing.
    day.press("<space>");
    let ahead = day.state.snapshot.verdict.iter().position(|line| &*line.label == "AHEAD").expect("a line");
    day.happen(Event::Pointer(Pointer::Press, Target::Verdict(ahead)));
    assert_eq!(day.state.snapshot.request.call, CallNo(2));
    has(&day.draw(), "b sends the calls until there");
}

#[test]
fn lists_say_what_is_scrolled_away() {
    let mut day = Day::sample("xbot", (80, 18));
    day.press("<space><space><space><space><space><space>");
    let screen = day.press("Lg");
    has(&screen, " 1-");
    let screen = day.press("G");
    let len = day.state.page.lines.len();
    has(&screen, &format!("-{len} of {len} "));
}
