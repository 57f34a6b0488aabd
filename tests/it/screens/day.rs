//! A day's work in the editor, on real files with a real engine: what keys do to the screen and to the disk.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plywood::app::effect::{Effect, EngineRequest};
use plywood::app::engine::{Disk, Engine, Options};
use plywood::app::event::{Event, Pointer, Target};
use plywood::app::key::Key;
use plywood::app::state::{OverlayKind, State};
use plywood::app::update::update;
use plywood::core::tokens::Encoding;
use plywood::io::bench_file::Machine;
use plywood::io::load::fixed_clock;
use plywood::io::{models, samples};
use tempfile::TempDir;

use super::shot::Shot;

pub(super) const BENCH: &str = r#"bench: 1
name: day
model: openai:gpt-5.4
workspace: { path: project, shown_as: /w, clock: "2026-04-01T09:00:00Z" }
facts: { mood: calm }
read: { rules: { file: AGENTS.md } }
tools: [ { names: [Shell], schemas: tools.json } ]
places:
  system: { of: system, join: "\n" }
  user: { of: current_user }
layers:
  - { id: base, in: system, budget: 60, refresh: call, from: { template: base.md } }
  - { id: rules, in: system, when: rules, refresh: call, from: { fact: rules } }
  - id: mood
    in: system
    from:
      text: |
        Be kind.
        Be {{ mood }}.
  - { id: pad, in: system, from: { template: pad.md } }
  - { id: said, in: user, from: { said: user } }
runs:
  one:
    - user: Go.
    - call: [ { Shell: { command: ls }, result: "a" } ]
    - call: [ { Shell: { command: ls }, result: "b" } ]
    - say: Done.
"#;

const BASE: &str = "# 你好 base\r\n\r\nWork in {{ cwd }}.\r\n- one\r\n- two 🙂\r\n";

/// A workbench without a terminal.
pub(super) struct Day {
    folder: Option<TempDir>,
    pub(super) root: PathBuf,
    pub(super) engine: Engine,
    pub(super) state: State,
    pub(super) shot: Shot,
    outside: Vec<(PathBuf, u32, u32)>,
    pub(super) copied: Vec<String>,
    quit: bool,
}

impl Day {
    pub(super) fn on(disk: Disk, folder: Option<TempDir>, size: (u16, u16)) -> Day {
        Encoding::O200k.load();
        let root = disk.folder().to_owned();
        let engine = Engine::open(Box::new(disk), Arc::new(models::embedded()), Options::default());
        Day::with(engine.expect("an engine"), folder, root, size)
    }

    /// On a copy of a sample.
    pub(super) fn sample(name: &str, size: (u16, u16)) -> Day {
        let sample = plywood::io::samples::find(name).expect("a sample");
        Day::on(Disk::sample(sample, "", &machine()).expect("a copy"), None, size)
    }

    /// On a folder without a bench.
    pub(super) fn plain(size: (u16, u16)) -> Day {
        let folder = TempDir::new().expect("a folder");
        fs::write(folder.path().join("AGENTS.md"), "first rule\n").expect("a file");
        let disk = Disk::open(folder.path(), &machine()).expect("a folder");
        Day::on(disk, Some(folder), size)
    }

    /// On an engine that was opened in another way.
    pub(super) fn with(engine: Engine, folder: Option<TempDir>, root: PathBuf, size: (u16, u16)) -> Day {
        let mut day = Day {
            folder,
            root,
            engine,
            state: State::new(true, false),
            shot: Shot::new(size.0, size.1),
            outside: Vec::new(),
            copied: Vec::new(),
            quit: false,
        };
        day.publish();
        day.draw();
        day
    }

    pub(super) fn new() -> Day {
        Day::sized(120, 40)
    }

    pub(super) fn sized(width: u16, height: u16) -> Day {
        let folder = TempDir::new().expect("a folder");
        fs::create_dir_all(folder.path().join("project")).expect("a folder");
        for (path, text) in [
            ("bench.yaml", BENCH),
            ("base.md", BASE),
            // Long enough to be cached.
            ("pad.md", &"- A rule that nobody needs, said again and again.\n".repeat(150)),
            ("tools.json", "{ \"Shell\": { \"name\": \"Shell\" } }\n"),
            ("project/AGENTS.md", "first rule\n"),
        ] {
            fs::write(folder.path().join(path), text).expect("a file");
        }
        let disk = Disk::open(folder.path(), &machine()).expect("a bench");
        Day::on(disk, Some(folder), (width, height))
    }

    pub(super) fn publish(&mut self) {
        let snapshot = Arc::new(self.engine.snapshot());
        self.happen(Event::Published(snapshot));
    }

    /// The terminal has another size from now on.
    pub(super) fn resize(&mut self, width: u16, height: u16) -> String {
        self.shot = Shot::new(width, height);
        self.happen(Event::Resized);
        // What the first frame measures decides what the second one shows.
        self.draw();
        self.draw()
    }

    pub(super) fn draw(&mut self) -> String {
        self.shot.draw(&mut self.state);
        self.shot.text()
    }

    pub(super) fn happen(&mut self, event: Event) {
        let mut effects: VecDeque<Effect> = update(&mut self.state, event).into();
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::Engine(request) => {
                    self.engine.handle(request);
                    let snapshot = Arc::new(self.engine.snapshot());
                    effects.extend(update(&mut self.state, Event::Published(snapshot)));
                }
                Effect::EditOutside(path, line, column) => {
                    self.outside.push((path.to_path_buf(), line, column));
                }
                Effect::Copy(copy) => self.copied.push(copy.what.to_string()),
                Effect::Quit => self.quit = true,
                _ => {}
            }
        }
    }

    /// Presses keys: characters as they are, names between `<` and `>`; a frame is drawn after each.
    pub(super) fn press(&mut self, keys: &str) -> String {
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            let (key, len) = match rest.find('>') {
                Some(end) if c == '<' && end > 1 => (Key::parse(&rest[1..end]).expect("a key"), end + 1),
                _ => (Key::char(c), c.len_utf8()),
            };
            rest = &rest[len..];
            self.happen(Event::Key(key));
            self.draw();
        }
        self.draw()
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).expect("a file")
    }

    /// Somebody else writes a file, and the watcher says so.
    pub(super) fn write(&mut self, path: &str, text: &str) -> String {
        fs::write(self.root.join(path), text).expect("a file");
        self.engine.look();
        self.publish();
        self.draw()
    }

    pub(super) fn text(&self) -> String {
        let editor = self.state.editor.as_ref().expect("an editor");
        editor.document.lines().collect::<Vec<_>>().join("\n")
    }

    pub(super) fn open(&self) -> Option<OverlayKind> {
        self.state.overlays.last().map(|overlay| overlay.kind)
    }
}

pub(super) fn machine() -> Machine {
    Machine { clock: fixed_clock("2026-04-01T09:00:00Z"), home: None }
}

#[track_caller]
pub(super) fn has(screen: &str, text: &str) {
    assert!(screen.contains(text), "{text} is not in\n{screen}");
}

/// The part of a screen that the view fills: the header says where a scratch copy lies.
pub(super) fn body(screen: &str) -> String {
    let lines: Vec<&str> = screen.lines().collect();
    let from = lines.iter().position(|line| line.starts_with("──") || line.starts_with('┌')).unwrap_or(0);
    let to = lines.iter().position(|line| line.contains(" Verdict ")).unwrap_or(lines.len());
    lines[from..to].join("\n")
}

#[test]
fn the_day() {
    let mut day = Day::new();
    // Open: the layer's template, with its length, its budget and what is unusual about the file.
    let screen = day.press("1je");
    has(&screen, "base.md  CRLF");
    has(&screen, "1:1   44 chars   base 42 of 60 chars");
    // Edit: the verdict is that of the draft, and nothing is written.
    day.press("<esc><space>e");
    let screen = day.press("<down><down><down><end>, 一<enter>- new<space>");
    assert_eq!(day.text(), "# 你好 base\n\nWork in {{ cwd }}.\n- one, 一\n- new \n- two 🙂\n");
    has(&screen, "verdict of this draft");
    has(&screen, "base 53 of 60 chars");
    has(&screen, "by the draft of base.md");
    assert_eq!(day.read("base.md"), BASE);
    // Undo by words, redo, save: only the edited lines are others, with the file's line ends.
    day.press("<ctrl-u><ctrl-u>");
    assert_eq!(day.text(), "# 你好 base\n\nWork in {{ cwd }}.\n- one, 一\n-\n- two 🙂\n");
    day.press("<ctrl-r><ctrl-r>");
    let screen = day.press("<backspace><ctrl-s>");
    assert_eq!(day.read("base.md"), BASE.replace("- one\r\n", "- one, 一\r\n- new\r\n"));
    has(&screen, "base.md saved");
    has(&screen, "by the edit of base.md");
    // Changed outside while nothing is unsaved: it is read again.
    let saved = day.read("base.md");
    let screen = day.write("base.md", &(saved.clone() + "theirs"));
    has(&screen, "base.md was changed outside and is read again");
    assert!(day.text().ends_with("two 🙂\ntheirs"), "{}", day.text());
    // Changed outside while something is: a question, and nothing is overwritten meanwhile.
    day.press("<ctrl-home>mine ");
    let other = saved.clone() + "theirs again";
    let screen = day.write("base.md", &other);
    has(&screen, "Changed outside");
    has(&screen, "! changed outside");
    let screen = day.press("<enter>");
    has(&screen, "- # 你好 base");
    has(&screen, "+ mine # 你好 base");
    has(&screen, "- theirs again");
    day.press("<esc><esc><ctrl-s>");
    assert_eq!(day.open(), Some(OverlayKind::Conflict), "saving asks again");
    assert_eq!(day.read("base.md"), other);
    let screen = day.press("j<enter>");
    has(&screen, "yours is kept; saving writes it over theirs");
    day.press("<ctrl-s>");
    assert_eq!(day.read("base.md"), saved.replace("# 你好", "mine # 你好") + "theirs");
    // Theirs can be taken, and mine comes back with undo.
    day.press("x");
    day.write("base.md", "short");
    let screen = day.press("jj<enter>");
    has(&screen, "theirs is taken; undo brings yours back");
    assert_eq!(day.text(), "short");
    day.press("<ctrl-u>");
    assert!(day.text().starts_with("mine x# 你好"), "{}", day.text());
    // Leaving asks; so does quitting.
    day.press("<esc>");
    assert_eq!(day.open(), Some(OverlayKind::Unsaved));
    day.press("jj<enter>");
    assert!(day.open().is_none() && day.state.editor.is_some(), "it stays");
    day.press("<ctrl-c><ctrl-c>");
    assert!(!day.quit && day.open() == Some(OverlayKind::Unsaved));
    day.press("j<enter>");
    assert!(day.state.editor.is_none());
    assert_eq!(day.read("base.md"), "short");
    // Compare: what the edits have done to the next call, word by word.
    day.press("<space>");
    let screen = day.press("d");
    has(&screen, "Differences");
    has(&screen, "call 2 -> call 3");
    // Copy what is to be told to others, and quit.
    day.press("<esc>1yy");
    assert_eq!(day.copied.len(), 1, "{}", day.state.message);
    day.press("q");
    assert!(day.quit);
}

#[test]
fn saving_and_leaving_is_one_answer() {
    let mut day = Day::new();
    day.press("1jex<esc><enter>");
    assert!(day.state.editor.is_none() && day.open().is_none());
    assert_eq!(day.read("base.md"), format!("x{BASE}"));
}

#[test]
fn a_byte_leads_to_its_line() {
    let disk = Disk::sample(&samples::samples()[0], "", &machine()).expect("a sample");
    let mut day = Day::on(disk, None, (120, 40));
    // The row with the CWD, which the template's line 9 writes.
    day.press("3/CWD: <enter>e");
    let editor = day.state.editor.as_ref().expect("an editor");
    assert_eq!((&*editor.file, editor.cursor.row + 1), ("prompt.md", 9));
    assert_eq!(&editor.document.line(8)[editor.cursor.byte..], "{{ cwd }}{% endif %}");
}

#[test]
fn every_layer_leads_to_a_text() {
    let mut day = Day::new();
    for (keys, file, row) in [
        ("1ge", "tools.json", 0),
        ("1gje", "base.md", 0),
        ("1gjje", "AGENTS.md", 0),
        ("1gjjje", "bench.yaml", 17),
    ] {
        day.press(keys);
        let editor = day.state.editor.as_ref().unwrap_or_else(|| panic!("{keys}: {}", day.state.message));
        assert_eq!((&*editor.file, editor.cursor.row), (file, row), "{keys}");
        day.press("<esc>");
    }
    // Inline text: typed, drafted, saved into the bench, and the run goes on with it.
    day.press("1gjjje<end>r than all<ctrl-s>");
    assert_eq!(day.read("bench.yaml"), BENCH.replace("Be kind.", "Be kind.r than all"));
    let screen = day.press("<esc>3");
    has(&screen, "Be kind.r than all");
}

#[test]
fn a_draft_that_breaks_says_so_and_keeps_the_last_good_screen() {
    let mut day = Day::new();
    let screen = day.press("1je{{ nobody }}");
    has(&screen, "! base.md:1:");
    has(&screen, "nobody");
    let screen = day.press("<ctrl-u><ctrl-u><ctrl-u>");
    assert!(!screen.contains("nobody"), "{screen}");
    assert_eq!(day.text(), BASE.replace("\r\n", "\n"));
}

#[test]
fn a_file_that_is_not_there_yet_is_made_by_saving() {
    let folder = TempDir::new().expect("a folder");
    let disk = Disk::open(folder.path(), &machine()).expect("a folder");
    let mut day = Day::on(disk, None, (120, 40));
    let row = day.state.snapshot.layers.rows.iter().position(|row| &*row.id == "agents_md").expect("a row");
    let screen = day.press(&format!("1g{}e", "j".repeat(row)));
    has(&screen, "AGENTS.md  new file");
    let screen = day.press("# Rules<enter>");
    has(&screen, "AGENTS.md 8 chars");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    day.press("<ctrl-s><esc>");
    assert_eq!(fs::read_to_string(folder.path().join("AGENTS.md")).expect("a file"), "# Rules\n");
}

#[test]
fn an_edit_at_an_earlier_call_begins_a_branch() {
    let mut day = Day::new();
    day.press("<space><space>[1je");
    let screen = day.press("x");
    has(&screen, "verdict of this draft");
    let screen = day.press("<ctrl-s>");
    has(&screen, "base.md saved; a branch from call 2");
    assert_eq!(day.state.snapshot.title.branch, Some((2, 2)));
    assert_eq!(day.read("base.md"), format!("x{BASE}"));
}

#[test]
fn the_own_editor_is_called_at_the_line_and_its_work_is_seen() {
    let mut day = Day::new();
    day.press("1jE");
    assert_eq!(day.outside, [(day.root.join("base.md"), 1, 1)]);
    assert!(day.state.editor.is_none() && day.state.snapshot.opened.is_none());
    day.press("e<down><down>new <ctrl-e>");
    assert_eq!(day.outside[1..], [(day.root.join("base.md"), 3, 5)]);
    assert_eq!(day.read("base.md"), BASE.replace("Work", "new Work"), "it was saved first");
    fs::write(day.root.join("base.md"), "from outside").expect("a file");
    day.happen(Event::EditedOutside(None));
    assert_eq!(day.text(), "from outside");
    day.happen(Event::EditedOutside(Some("vi cannot be started".into())));
    assert_eq!(day.state.message, "vi cannot be started");
}

#[test]
fn a_paste_is_one_step_and_finding_counts() {
    let mut day = Day::new();
    day.press("1je");
    day.happen(Event::Paste("one\none\tone\n".into()));
    assert!(day.text().starts_with("one\none\tone\n# 你好"));
    let screen = day.press("<ctrl-home><ctrl-f>one");
    has(&screen, "/one");
    has(&screen, "1/4");
    assert!(
        day.shot.cursor().is_some_and(|(_, row)| row == 39),
        "the terminal's cursor is where text is typed"
    );
    let screen = day.press("<enter><ctrl-n><ctrl-p><ctrl-p>");
    has(&screen, "4 of 4");
    day.press("<esc><ctrl-u>");
    assert_eq!(day.text(), BASE.replace("\r\n", "\n"));
}

#[test]
fn the_mouse_puts_the_cursor_and_the_wheel_scrolls() {
    let mut day = Day::new();
    day.press("1je");
    let (x, y) = (day.shot.column_of("Work in").expect("the line"), 6);
    let hit = day.shot.regions.hit(x + 5, y);
    assert!(matches!(hit, Target::EditorRow { line: 2, cell: 5, .. }), "{hit:?}");
    day.happen(Event::Pointer(Pointer::Press, hit));
    day.draw();
    assert_eq!(day.shot.cursor(), Some((x + 5, y)));
    day.press("<ctrl-end>");
    for _ in 0..200 {
        day.happen(Event::Key(Key::parse("enter").expect("a key")));
    }
    day.happen(Event::Pointer(Pointer::WheelUp, Target::Overlay));
    let screen = day.draw();
    assert!(!screen.contains("Work in"), "{screen}");
    day.press("<ctrl-home>");
    has(&day.draw(), "Work in");
}

#[test]
fn layers_are_edited_in_the_bench_by_keys() {
    let mut day = Day::new();
    let screen = day.press("1jj-");
    has(&screen, "is left out (when: false and (rules))");
    assert_eq!(day.read("bench.yaml"), BENCH.replace("when: rules", "when: false and (rules)"));
    day.press("u");
    assert_eq!(day.read("bench.yaml"), BENCH);
    day.press("1gjK");
    assert_eq!(day.state.message, "base is the first layer of system");
    let screen = day.press("J");
    has(&screen, "base stands behind rules now");
    // The selection stays on the layer.
    let row = &day.state.snapshot.layers.rows[day.state.layers.cursor];
    assert_eq!(&*row.id, "base");
    day.press("mclaude-sonnet-4-5<ctrl-s>");
    assert!(
        day.read("bench.yaml").contains("model: anthropic:claude-sonnet-4-5\n"),
        "{}",
        day.read("bench.yaml")
    );
    day.press("u");
    day.press("g-");
    assert!(day.state.message.ends_with("is no layer of the bench"), "{}", day.state.message);
}

#[test]
fn an_editor_in_every_size() {
    for (width, height) in [(120, 40), (80, 24), (200, 60)] {
        let mut day = Day::sized(width, height);
        day.write(
            "base.md",
            "# 你好 base\r\n\tx\u{1b}[31m \u{202e}y\u{200b}z\r\n👨‍👩‍👧 emoji, ｶﾞ and {{ cwd }}\r\n",
        );
        day.press("<space>1je<down><end>");
        let long = "长段落会在窗口里折行，光标和折行用的是同一个函数。".repeat(8);
        day.happen(Event::Paste(format!("\n{long}\nA budget is not a cut.")));
        let screen = day.draw();
        insta::assert_snapshot!(format!("editor_{width}x{height}"), screen);
    }
}

#[test]
fn questions_are_lists() {
    let mut day = Day::new();
    day.press("1jex");
    let screen = day.write("base.md", "# theirs\r\n\r\nWork in {{ cwd }}.\r\n- one\r\n- two 🙂\r\n");
    insta::assert_snapshot!("editor_conflict_120x40", screen);
    insta::assert_snapshot!("editor_both_120x40", day.press("<enter>"));
    let screen = day.press("<esc><esc><esc>");
    insta::assert_snapshot!("editor_unsaved_120x40", screen);
}

#[test]
fn no_size_panics_while_a_text_is_edited() {
    let mut day = Day::new();
    day.press("1je");
    day.happen(Event::Paste("你好 ".repeat(400)));
    for width in (1..60).step_by(7).chain([80, 120]) {
        for height in (1..30).step_by(3) {
            day.shot = Shot::new(width, height);
            day.press("<up><end><pgdn>");
        }
    }
}

#[test]
fn a_folder_that_is_gone_is_a_message() {
    let mut day = Day::new();
    day.press("1jex");
    let folder = day.folder.take().expect("a folder");
    drop(folder);
    let screen = day.press("<ctrl-s>");
    assert_eq!(day.engine.session().calls().len(), 0);
    assert!(screen.contains("Changed outside") || screen.contains("was not saved"), "{screen}");
    assert!(!Path::new(&day.root).exists());
    day.happen(Event::Key(Key::parse("esc").expect("a key")));
    day.engine.handle(EngineRequest::CloseText);
}

#[test]
fn what_is_typed_before_the_text_is_there_is_for_it() {
    let mut day = Day::new();
    let key = |name: &str| Event::Key(Key::parse(name).expect("a key"));
    day.press("1j");
    // The engine is busy: its answer comes late.
    let mut effects = update(&mut day.state, key("e"));
    effects.extend(update(&mut day.state, key("q")));
    effects.extend(update(&mut day.state, Event::Paste("pasted ".into())));
    let [Effect::Engine(request)] = effects.as_slice() else { panic!("{effects:?}") };
    // A snapshot that knows nothing of it yet changes nothing.
    day.publish();
    assert!(day.state.editor.is_none() && !day.quit);
    day.engine.handle(request.clone());
    day.publish();
    assert!(day.text().starts_with("qpasted # 你好"), "{}", day.text());
    // What cannot be opened takes nothing, and keys are commands again.
    day.press("<esc>j<enter>");
    fs::remove_file(day.root.join("base.md")).expect("a file");
    fs::create_dir(day.root.join("base.md")).expect("a folder");
    let screen = day.press("1gje");
    has(&screen, "base.md cannot be edited here: it is not a regular file");
    day.press("q");
    assert!(day.quit);
}

/// What is left out does not run; it is a layer all the same, and the same key takes it in again.
#[test]
fn a_layer_is_left_out_and_taken_in_by_one_key() {
    let mut day = Day::new();
    let before = day.read("bench.yaml");
    day.press("1");
    day.press("j");
    day.press("j");
    day.press("-");
    assert_ne!(day.read("bench.yaml"), before);
    day.press("-");
    assert_eq!(day.read("bench.yaml"), before, "{}", day.state.message);
}

/// The list of views shows the keys of the views, and takes them.
#[test]
fn keys_of_views_work_in_their_list() {
    let mut day = Day::new();
    day.press("v");
    assert_eq!(day.open(), Some(OverlayKind::Views));
    day.press("l");
    assert_eq!(day.open(), None);
    assert_eq!(day.state.view, plywood::app::state::View::Ledger);
}

/// What was said of a broken bench goes when it is mended.
#[test]
fn a_word_on_a_broken_bench_goes_with_it() {
    let mut day = Day::new();
    let right = day.read("bench.yaml");
    day.write("bench.yaml", "bench: 1\nname: [\n");
    day.press("1");
    day.press("j");
    day.press("j");
    day.press("-");
    assert!(day.state.message.starts_with("the bench is broken"), "{}", day.state.message);
    day.write("bench.yaml", &right);
    assert_eq!(day.state.message, "");
}
