//! Sequences of keys, and what they come to.

use std::sync::Arc;

use plywood::app::action::Action;
use plywood::app::effect::{Effect, EngineRequest};
use plywood::app::event::{Event, Pointer, Target};
use plywood::app::key::{Code, Key};
use plywood::app::snapshot::{BlockChange, Draft, Snapshot};
use plywood::app::state::{OverlayKind, Pane, State, View};
use plywood::app::update::update;
use plywood::core::wire::CallNo;

use super::fixture::xbot;
use super::shot::Shot;
use super::showing;

/// Presses keys: characters as they are, names between `<` and `>`.
pub(crate) fn press(state: &mut State, keys: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut rest = keys;
    while let Some(c) = rest.chars().next() {
        let (key, len) = match rest.find('>') {
            Some(end) if c == '<' && end > 1 => (Key::parse(&rest[1..end]).expect("a key"), end + 1),
            _ => (Key::char(c), c.len_utf8()),
        };
        rest = &rest[len..];
        effects.extend(update(state, Event::Key(key)));
    }
    effects
}

/// A state that was drawn once in 120x40.
fn drawn(snapshot: Snapshot) -> State {
    let mut state = showing(snapshot);
    Shot::new(120, 40).draw(&mut state);
    state
}

fn engine(request: EngineRequest) -> Effect {
    Effect::Engine(request)
}

#[test]
fn keys_ask_the_engine() {
    let variants =
        |names: &[&str]| engine(EngineRequest::Variants(names.iter().map(|name| (*name).into()).collect()));
    let jump = |call| engine(EngineRequest::Jump(CallNo(call)));
    for (keys, want) in [
        ("<space>", vec![engine(EngineRequest::Send)]),
        ("<backspace>", vec![engine(EngineRequest::Back)]),
        ("[", vec![jump(1)]),
        ("]", vec![jump(3)]),
        ("p", vec![engine(EngineRequest::Play)]),
        ("<ctrl-l>", vec![engine(EngineRequest::LookAgain), Effect::Settings, Effect::Redraw]),
        ("<ctrl-z>", vec![Effect::Suspend]),
        ("M", vec![Effect::Mouse(false)]),
        ("MM", vec![Effect::Mouse(false), Effect::Mouse(true)]),
        // The call after the shown one's injections.
        ("2jjj<enter>", vec![jump(3)]),
        ("2G<enter>", vec![jump(6)]),
        // Enter in Why goes to the table, then takes the row.
        ("4<enter>j<enter>", vec![variants(&["own_message"])]),
        ("4<enter>jjjjj<enter>", vec![variants(&["no_cwd_in_base", "keep_tags"])]),
        // A variant that is on goes off, another one comes behind it.
        ("Vj<space>", vec![variants(&[])]),
        ("V<enter>", vec![variants(&["never", "rebuild_system"])]),
        ("m<down><enter>", vec![engine(EngineRequest::Model("anthropic:claude-sonnet-5".into()))]),
        ("msonnet<enter>", vec![engine(EngineRequest::Model("anthropic:claude-sonnet-5".into()))]),
        // The palette does what the key does.
        (":send<enter>", vec![engine(EngineRequest::Send)]),
        (
            "<ctrl-p>read every<enter>",
            vec![engine(EngineRequest::LookAgain), Effect::Settings, Effect::Redraw],
        ),
        // No run to choose from, so no list.
        ("R<enter>", vec![]),
        ("[[<backspace>", vec![jump(1), jump(1), engine(EngineRequest::Back)]),
    ] {
        let mut state = drawn(xbot());
        assert_eq!(press(&mut state, keys), want, "{keys}");
    }
}

#[test]
fn quitting_and_not_quitting() {
    for (keys, quits) in [
        ("q", true),
        ("<ctrl-c><ctrl-c>", true),
        ("<ctrl-c>j<ctrl-c>", false),
        ("<ctrl-c>", false),
        ("<esc><esc><esc><esc>", false),
        ("zq", false),
        ("zqq", true),
        ("oq", false),
        ("vq", false),
        ("vqq", true),
        // Typed into a search, a filter, a CWD.
        ("/q", false),
        ("?q", false),
        (":q", false),
        ("cq", false),
        ("c<ctrl-c><ctrl-c>", true),
    ] {
        let mut state = drawn(xbot());
        let effects = press(&mut state, keys);
        assert_eq!(effects.contains(&Effect::Quit), quits, "{keys}: {effects:?}");
    }
}

#[test]
fn escape_goes_one_level_up() {
    let mut state = drawn(xbot());
    press(&mut state, "z/dir<enter>?");
    assert!(state.zoom && state.search.is_none() && state.overlays.len() == 1);
    press(&mut state, "<esc>3/目录<enter>?x");
    assert!(state.search.is_some() && state.overlays.len() == 1, "{:?}", state.overlays);
    press(&mut state, "<esc>");
    assert!(state.search.is_some() && state.overlays.is_empty());
    press(&mut state, "<esc>");
    assert!(state.search.is_none() && state.zoom);
    press(&mut state, "<esc>");
    assert!(!state.zoom);
    assert_eq!(press(&mut state, "<esc>"), []);
}

#[test]
fn focus_and_views() {
    let mut state = drawn(xbot());
    for (keys, focus) in [
        ("1", Pane::Layers),
        ("<tab>", Pane::Calls),
        ("<tab><tab>", Pane::Why),
        ("<tab>", Pane::Layers),
        ("<shift-tab>", Pane::Why),
        ("3", Pane::Request),
        ("v<enter>", Pane::Layers),
    ] {
        press(&mut state, keys);
        assert_eq!(state.focus, focus, "{keys}");
    }
    press(&mut state, "o");
    assert_eq!(state.view, View::Orders);
    press(&mut state, "2");
    assert_eq!((state.view, state.focus), (View::Main, Pane::Calls));
}

#[test]
fn a_layer_opens_at_its_bytes() {
    let mut state = drawn(xbot());
    press(&mut state, "1jj<enter>");
    assert_eq!((state.focus, state.request.block), (Pane::Request, 0));
    let block = state.block().expect("a block");
    let row = &block.text.text()[state.request.cursor..];
    assert!(row.trim_start().starts_with("渠道"), "{row}");
    // A layer that is not in the request says why.
    press(&mut state, "1G<enter>");
    assert!(state.message.contains("user_message writes nothing"), "{}", state.message);
}

#[test]
fn an_injection_opens_at_its_bytes() {
    let mut state = drawn(xbot());
    press(&mut state, "3h2j<enter>");
    assert_eq!((state.focus, state.request.block), (Pane::Request, 3));
    let block = state.block().expect("a block");
    assert_eq!(&*block.parts[1].author, "dynamic-context");
    assert!(block.parts[1].range.contains(&state.request.cursor));
}

#[test]
fn parts_fold_and_unfold() {
    let mut state = drawn(xbot());
    press(&mut state, "3");
    let mut shot = Shot::new(120, 40);
    shot.draw(&mut state);
    assert!(shot.text().contains("环境变化"));
    press(&mut state, "jj<enter>");
    shot.draw(&mut state);
    assert!(!shot.text().contains("环境变化"), "{}", shot.text());
    assert!(shot.text().contains("4 lines, folded (Enter)"), "{}", shot.text());
    press(&mut state, "<enter>");
    shot.draw(&mut state);
    assert!(shot.text().contains("环境变化"));
}

#[test]
fn searching_counts_and_goes_round() {
    let mut state = drawn(xbot());
    press(&mut state, "3/目录");
    assert_eq!(state.search.as_ref().map(|search| search.hits.len()), Some(2));
    press(&mut state, "<enter>");
    assert_eq!(state.message, "1 of 2; n and N go through them");
    press(&mut state, "n");
    assert_eq!(state.message, "2 of 2");
    press(&mut state, "n");
    assert_eq!(state.message, "1 of 2");
    press(&mut state, "N");
    assert_eq!(state.message, "2 of 2");
    press(&mut state, "1/skills<enter>");
    assert_eq!(state.layers.cursor, 4);
    press(&mut state, "/nowhere<enter>");
    assert_eq!(state.message, "nothing found for \"nowhere\"");
    assert!(state.search.is_none());
}

#[test]
fn a_cwd_is_previewed_completed_and_entered() {
    let mut snapshot = xbot();
    snapshot.agent.cwd = "/home/shop".into();
    let mut state = drawn(snapshot.clone());
    let preview = |text: &str| engine(EngineRequest::PreviewCwd(text.into()));
    assert_eq!(press(&mut state, "ca"), [preview("/home/shop/a")]);
    // Both folders begin with `ap`.
    assert_eq!(press(&mut state, "<tab>"), [preview("/home/shop/ap")]);
    assert_eq!(press(&mut state, "<tab>"), [preview("/home/shop/api")]);
    assert_eq!(press(&mut state, "<tab>"), [preview("/home/shop/app")]);
    assert_eq!(press(&mut state, "<tab>"), [preview("/home/shop/api")]);
    assert_eq!(press(&mut state, "/<tab>"), [preview("/home/shop/api"), preview("/home/shop/api/v1")]);
    assert_eq!(press(&mut state, "<enter>"), [engine(EngineRequest::SetCwd("/home/shop/api/v1".into()))]);
    assert!(state.overlays.is_empty());

    // Relative, pasted, given up.
    press(&mut state, "c<ctrl-u>");
    assert_eq!(update(&mut state, Event::Paste("网页\r\n".to_owned())), [preview("网页")]);
    assert_eq!(press(&mut state, "<esc>"), [engine(EngineRequest::CancelPreview)]);

    // What the engine says is wrong is asked about once: an agent may go anywhere.
    press(&mut state, "c<ctrl-u>x");
    snapshot.generation = 2;
    snapshot.draft = Some(Draft {
        typed: "x".into(),
        value: "/home/shop/x".into(),
        effect: "".into(),
        problem: Some("no such folder".into()),
    });
    update(&mut state, Event::Published(Arc::new(snapshot)));
    assert_eq!(press(&mut state, "<enter>"), []);
    assert_eq!(state.message, "no such folder; Enter again takes it all the same");
    assert_eq!(state.overlays.last().map(|overlay| overlay.kind), Some(OverlayKind::Cwd));
    assert_eq!(press(&mut state, "<enter>"), [engine(EngineRequest::SetCwd("x".into()))]);
    assert!(state.overlays.is_empty());
}

#[test]
fn the_terminal_cursor_stands_where_text_is_typed() {
    let mut state = drawn(xbot());
    let mut shot = Shot::new(80, 24);
    shot.draw(&mut state);
    assert_eq!(shot.cursor(), None);
    press(&mut state, "c<ctrl-u>/项目");
    shot.draw(&mut state);
    let (column, _) = shot.cursor().expect("a cursor");
    assert_eq!(Some(column), shot.column_of("/项目").map(|start| start + 5));
    press(&mut state, "<left>");
    shot.draw(&mut state);
    assert_eq!(shot.cursor().map(|(at, _)| at), Some(column - 2));
    press(&mut state, "<esc>/目");
    shot.draw(&mut state);
    assert_eq!(shot.cursor(), Some((4, 23)));
    press(&mut state, "<esc>");
    shot.draw(&mut state);
    assert_eq!(shot.cursor(), None);
}

#[test]
fn pasted_text_is_never_taken_as_keys() {
    let mut state = drawn(xbot());
    assert_eq!(update(&mut state, Event::Paste("q\nq".to_owned())), []);
    assert!(!state.message.is_empty());
}

/// The middle of the first cell at which `text` stands.
fn click(shot: &Shot, text: &str) -> Target {
    let rows: Vec<String> = shot.text().lines().map(str::to_owned).collect();
    let row = rows.iter().position(|row| row.contains(text)).unwrap_or_else(|| panic!("{text}"));
    let column = plywood::app::cells::width(&rows[row][..rows[row].find(text).unwrap_or(0)]);
    shot.regions.hit(column as u16, row as u16)
}

#[test]
fn the_mouse_means_what_lies_under_it() {
    for (width, height) in [(120, 40), (80, 24)] {
        let mut state = showing(xbot());
        let mut shot = Shot::new(width, height);
        shot.draw(&mut state);
        assert_eq!(click(&shot, "10_skills"), Target::Layer(4));
        assert_eq!(click(&shot, "环境变化"), Target::RequestRow(55));
        assert_eq!(click(&shot, "c cwd"), Target::Action(Action::Cwd));
        assert_eq!(click(&shot, "? keys"), Target::Action(Action::Help));
        let target = click(&shot, "10_skills");
        update(&mut state, Event::Pointer(Pointer::Press, target));
        assert_eq!((state.focus, state.layers.cursor), (Pane::Layers, 4));
        let target = click(&shot, "Read, Shell");
        // Going to a forecast call sends all calls up to it: clicks only select it, however many.
        for told in ["", "that call is forecast; Enter sends the calls until there"] {
            let effects = update(&mut state, Event::Pointer(Pointer::Press, target));
            assert_eq!((effects, state.focus, state.message.as_str()), (vec![], Pane::Calls, told));
        }
        assert_eq!(press(&mut state, "<enter>"), [engine(EngineRequest::Jump(CallNo(3)))]);
        // To one that was sent, the second click goes.
        shot.draw(&mut state);
        let target = click(&shot, if width == 120 { "user: Move into" } else { " 1 user " });
        update(&mut state, Event::Pointer(Pointer::Press, target));
        let effects = update(&mut state, Event::Pointer(Pointer::Press, target));
        assert_eq!(effects, [engine(EngineRequest::Jump(CallNo(1)))]);
        // The wheel scrolls the pane under it, focused or not.
        let target = click(&shot, "环境变化");
        update(&mut state, Event::Pointer(Pointer::WheelDown, target));
        assert_eq!(state.focus, Pane::Calls);
        if height == 24 {
            assert!(state.request.top > 0);
        }
        // A click beside what is open closes it; a click on a row takes it.
        press(&mut state, "m");
        shot.draw(&mut state);
        let row = click(&shot, "anthropic:claude-sonnet-5");
        let effects = update(&mut state, Event::Pointer(Pointer::Press, row));
        assert_eq!(effects, [engine(EngineRequest::Model("anthropic:claude-sonnet-5".into()))]);
        press(&mut state, "m");
        update(&mut state, Event::Pointer(Pointer::Press, Target::Nothing));
        assert!(state.overlays.is_empty());
    }
}

#[test]
fn publications_keep_the_selection_and_follow_what_changed() {
    let mut state = drawn(xbot());
    press(&mut state, "1jjjj");
    let mut next = xbot();
    next.generation = 2;
    next.layers.rows.remove(1);
    next.layers.rows.remove(1);
    update(&mut state, Event::Published(Arc::new(next.clone())));
    assert_eq!(&*state.snapshot.layers.rows[state.layers.cursor].shown, "10_skills");

    // Looking elsewhere in the request stays as it is while the same block matters.
    press(&mut state, "3<left>");
    assert_eq!(state.request.block, 2);
    next.generation = 3;
    update(&mut state, Event::Published(Arc::new(next.clone())));
    assert_eq!(state.request.block, 2);

    // An edit that reaches the request shows itself.
    next.generation = 4;
    next.request.focus = 0;
    next.request.blocks[0].change = BlockChange::Changed(29);
    update(&mut state, Event::Published(Arc::new(next.clone())));
    assert_eq!((state.request.block, state.request.cursor), (0, 24));

    // An older one changes nothing.
    next.generation = 1;
    next.title.name = "old".into();
    update(&mut state, Event::Published(Arc::new(next)));
    assert_eq!(&*state.snapshot.title.name, "xbot");
}

#[test]
fn another_call_moves_the_cursor_to_it() {
    let mut state = drawn(xbot());
    press(&mut state, "2gj");
    let mut next = xbot();
    next.generation = 2;
    next.calls.shown = Some(4);
    next.request.call = CallNo(5);
    update(&mut state, Event::Published(Arc::new(next)));
    press(&mut state, "<enter>");
    // On the shown call, Enter has nothing to do.
    assert_eq!(press(&mut state, "<enter>"), []);
    assert_eq!(press(&mut state, "j<enter>"), [engine(EngineRequest::Jump(CallNo(6)))]);
}

#[test]
fn an_unfocused_terminal_looks_again_when_it_returns() {
    let mut state = drawn(xbot());
    state.dirty = false;
    assert_eq!(update(&mut state, Event::Focused), [engine(EngineRequest::Look), Effect::Settings]);
    assert!(!state.dirty);
}

#[test]
fn the_last_keys_are_kept_for_an_audience() {
    let mut state = State::new(true, true);
    press(&mut state, "12j");
    let keys: Vec<Key> = state.keys.iter().flatten().copied().collect();
    assert_eq!(keys, [Key::char('1'), Key::char('2'), Key::char('j')]);
    press(&mut state, "<pgdn>123456");
    assert!(state.keys.as_ref().is_some_and(|keys| keys.len() == 6));
    assert!(!state.keys.iter().flatten().any(|key| key.code == Code::PageDown));
}

#[test]
fn motions_end_at_the_ends() {
    let rows = xbot().layers.rows.len();
    for (keys, want) in [
        ("1G", rows - 1),
        ("1Gj", rows - 1),
        ("1Gg", 0),
        ("1k", 0),
        ("1<pgdn>", 8),
        ("1<end><pgup>", 0),
        ("1jjj<home>", 0),
        ("1<ctrl-d>", 4),
        ("1G<ctrl-u>", 4),
        ("1<down><down><up>", 1),
    ] {
        let mut state = drawn(xbot());
        press(&mut state, keys);
        assert_eq!(state.layers.cursor, want, "{keys}");
    }
}
