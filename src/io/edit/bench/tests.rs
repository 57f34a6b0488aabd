//! Edits of benches written in every way keep what they do not mean.

use proptest::prelude::*;

use super::plan::{Layer, layer as layer_of};
use super::*;
use crate::core::bench::Since;
use crate::core::run::ToolCall;

fn try_edit(text: &str, change: &BenchEdit) -> Result<String, String> {
    let original = Original::of(text.as_bytes()).expect("text");
    let edited = edit(&"bench.yaml".into(), &original, change)?;
    let after = spliced(text, &edited.splices);
    assert_eq!(spliced(&after, &inverse(text, &edited.splices)), text, "the way back");
    Ok(after)
}

#[track_caller]
fn becomes(text: &str, change: &BenchEdit, after: &str) {
    assert_eq!(try_edit(text, change).as_deref(), Ok(after), "{change:?}");
}

fn toggle(layer: &str) -> BenchEdit {
    BenchEdit::Toggle(layer.into())
}

const FLOW: &str = "model: a:b  # exact\nplaces: { s: { of: system, order: key } }\nlayers:\n  # first\n  - { id: a, in: s, key: 10_a, from: { text: x } }  # one\n\n  - { id: b, in: s, key: 20_b, when: \"c, d\", from: { text: x } }\n  # about c\n  - id: c\n    in: s  # here\n    key: 30_c\n    # where from\n    from: { text: x }\n    # the end of c\nmarks: [ { at: s } ]\n";

#[test]
fn a_layer_is_switched_off_and_on() {
    let off = FLOW.replace("key: 10_a, from", "key: 10_a, when: \"false\", from");
    becomes(FLOW, &toggle("a"), &off);
    becomes(&off, &toggle("a"), FLOW);
    // A condition is kept in its quotes.
    let off = FLOW.replace("when: \"c, d\"", "when: \"false and (c, d)\"");
    becomes(FLOW, &toggle("b"), &off);
    becomes(&off, &toggle("b"), FLOW);
    // In a block map the comment above `from` stays above it.
    let off = FLOW.replace("30_c\n", "30_c\n    when: \"false\"\n");
    becomes(FLOW, &toggle("c"), &off);
    becomes(&off, &toggle("c"), FLOW);
    // So is one that has lines of its own, whatever is said of its last line end.
    for head in [">-", "|", ">", "|+"] {
        let long = FLOW.replace("30_c\n", &format!("30_c\n    when: {head}\n      a and\n\n      b\n"));
        let off = long.replace("a and\n", "false and (a and\n").replace("      b\n", "      b)\n");
        becomes(&long, &toggle("c"), &off);
        becomes(&off, &toggle("c"), &long);
    }
    // A comment behind the condition is worth a condition that holds.
    let noted = off.replace("when: \"false\"", "when: \"false\"  # for now");
    becomes(&noted, &toggle("c"), &noted.replace("\"false\"", "true"));
}

fn saved(name: &str, over: bool) -> BenchEdit {
    let call = |tool: &str, result: Option<&str>| ToolCall {
        tool: tool.into(),
        args: [("path".into(), Value::text("a: b")), ("n".into(), Value::Int(3))].into_iter().collect(),
        result: result.map(Into::into),
        ..ToolCall::default()
    };
    let lines = vec![
        Input::User("你好\n# no comment\n".into()),
        Input::Call { text: None, calls: vec![call("Read", None)] },
        Input::Call {
            text: Some("I look.".into()),
            calls: vec![call("Read", Some("one\ntwo")), call("Shell", Some(""))],
        },
        Input::StartAgent { role: "worker".into(), goal: "Look.".into(), cwd: None, fork: false },
        Input::Say("Found.".into()),
        Input::EndAgent,
        Input::Say("true".into()),
    ];
    BenchEdit::Run { name: name.into(), lines, over }
}

/// The run of [`saved`], as the lines of a list behind its name in column 2.
const RUN: &str = r#"
    - user: |
        你好
        # no comment
    - call: [{ Read: { path: "a: b", n: 3 } }]
    - text: I look.
      call:
        - Read: { path: "a: b", n: 3 }
          result: |-
            one
            two
        - Shell: { path: "a: b", n: 3 }
          result: ""
    - agent: { role: worker, goal: Look., run: [{ say: Found. }] }
    - say: "true""#;

#[test]
fn a_conversation_is_written_as_people_write_runs() {
    let text = "name: x\nruns:\n  one:            # the first\n    - user: Go.\n    # the end of it\n# end\n";
    let with = text.replace("of it\n", &format!("of it\n  tried:{RUN}\n"));
    becomes(text, &saved("tried", false), &with);
    // Where there are no runs yet, and in the line ends of the file.
    let bare = "name: x\r\nlayers: []\r\n# end";
    let with = format!("name: x\r\nlayers: []\r\nruns:\r\n  tried:{}\r\n# end", RUN.replace('\n', "\r\n"));
    becomes(bare, &saved("tried", false), &with);
    // In brackets it stands in brackets, on one line.
    let flow =
        try_edit("name: x\nruns: { one: [{ user: Go. }] }\n", &saved("tried", false)).expect("an edit");
    assert!(flow.contains("], tried: [{ user: \"你好\\n# no comment\\n\" }, { call: ["), "{flow}");
    // Over a run of its name only where that is said, and never over a comment.
    assert_eq!(try_edit(text, &saved("one", false)), Err("the bench has a run one already".to_owned()));
    let refused = try_edit(text, &saved("one", true)).expect_err("a comment in it");
    assert!(refused.contains("comment"), "{refused}");
    let plain = "runs:\n  one:\n    - user: Go.\n  two: []\n";
    becomes(plain, &saved("one", true), &format!("runs:\n  one:{RUN}\n  two: []\n"));
    becomes("runs:\n  one: []\n", &saved("one", true), &format!("runs:\n  one:{RUN}\n"));
    for (name, problem) in [("", "a name is wanted"), ("1", "a name begins with a letter")] {
        assert_eq!(try_edit(plain, &saved(name, false)), Err(problem.to_owned()));
    }
    assert!(try_edit(plain, &saved("a b", false)).is_err());
    assert!(try_edit(plain, &saved("试一试", false)).is_ok());
}

#[test]
fn a_line_end_is_that_of_the_file() {
    let text = "layers:\r\n- id: a\r\n  from: { text: x }";
    becomes(text, &toggle("a"), "layers:\r\n- id: a\r\n  when: \"false\"\r\n  from: { text: x }");
    let text = "layers:\r\n- from: { text: x }\r\n  id: a";
    let off = "layers:\r\n- when: \"false\"\r\n  from: { text: x }\r\n  id: a";
    becomes(text, &toggle("a"), off);
}

#[test]
fn scalars_keep_their_quotes_and_their_comments() {
    becomes(FLOW, &BenchEdit::Model("c:d".into()), &FLOW.replace("a:b ", "c:d "));
    let text = "bench: 1\nname: x\nfacts: { s: 'it''s', n: 1, l: [1, 2] }\nplaces: {}\n";
    let fact = |name: &str, value| BenchEdit::Fact(name.into(), value);
    becomes(text, &fact("s", Value::text("that's")), &text.replace("it''s", "that''s"));
    becomes(text, &fact("n", Value::text("1")), &text.replace("n: 1", "n: \"1\""));
    becomes(text, &fact("n", Value::Float(1.0)), &text.replace("n: 1", "n: 1.0"));
    becomes(text, &fact("l", Value::Bool(true)), &text.replace("[1, 2]", "true"));
    becomes(text, &fact("new", Value::text("a: b")), &text.replace("2] }", "2], new: \"a: b\" }"));
    let agent = BenchEdit::AgentField("session".into(), Value::text("s-2"));
    becomes(text, &agent, &text.replace("x\nfacts", "x\nagent: { session: s-2 }\nfacts"));
    let same = try_edit(text, &fact("n", Value::Int(1)));
    assert_eq!(same, Err("the bench says so already".to_owned()));
}

#[test]
fn block_values_are_replaced_whole_or_not_at_all() {
    let text = "facts:\n  a: |\n    one\n\n    two\n  b:\n    - x\n    - y\n  c:   # nothing\n# end\n";
    let fact = |name: &str, value: &str| BenchEdit::Fact(name.into(), Value::text(value));
    becomes(text, &fact("a", "z"), "facts:\n  a: z\n  b:\n    - x\n    - y\n  c:   # nothing\n# end\n");
    becomes(text, &fact("b", "z"), "facts:\n  a: |\n    one\n\n    two\n  b: z\n  c:   # nothing\n# end\n");
    becomes(text, &fact("c", "z"), &text.replace("c: ", "c: z "));
    becomes(text, &fact("d", "z"), &text.replace("# nothing\n", "# nothing\n  d: z\n"));
    let noted = text.replace("- x", "- x  # why");
    assert_eq!(try_edit(&noted, &fact("b", "z")), Err("the comment in line 7 would be lost".to_owned()));
    let shared = "facts: { a: &v [1], b: *v }\n";
    becomes(shared, &fact("b", "z"), "facts: { a: &v [1], b: z }\n");
    let why = "it cannot be made without a risk: the result could not be read";
    assert_eq!(try_edit("facts:\n  a: &v\n    - 1\n  b: *v\n", &fact("a", "z")), Err(why.to_owned()));
}

#[test]
fn a_layer_moves_with_its_comments() {
    let text = FLOW.replace(", order: key", "");
    let past = |layer: &str, past: &str| BenchEdit::Move { layer: layer.into(), past: past.into() };
    let a = "  # first\n  - { id: a, in: s, key: 10_a, from: { text: x } }  # one\n";
    let b = "  - { id: b, in: s, key: 20_b, when: \"c, d\", from: { text: x } }\n";
    let c = "  # about c\n  - id: c\n    in: s  # here\n    key: 30_c\n    # where from\n    from: { text: x }\n    # the end of c\n";
    assert_eq!(text.matches(&format!("{a}\n{b}{c}")).count(), 1);
    let with = |layers: &str| text.replace(&format!("{a}\n{b}{c}"), layers);
    becomes(&text, &past("b", "a"), &with(&format!("{b}\n{a}{c}")));
    becomes(&text, &past("a", "b"), &with(&format!("{b}\n{a}{c}")));
    becomes(&text, &past("c", "a"), &with(&format!("{c}\n{a}{b}")));
    becomes(&text, &past("a", "c"), &with(&format!("{b}\n{c}{a}")));
    // Without a line end at the end of the file.
    let short = "layers:\n- { id: a, in: s }\n- { id: b, in: s }";
    becomes(short, &past("b", "a"), "layers:\n- { id: b, in: s }\n- { id: a, in: s }");
    let flow = "layers: [ { id: a, in: s }, # x\n  { id: b, in: s } ]\n";
    becomes(flow, &past("b", "a"), "layers: [ { id: b, in: s }, # x\n  { id: a, in: s } ]\n");
    let numbered = format!("{short}\nvariants: {{ v: {{ layers.0.in: t }} }}\n");
    let why = "the variant v names `layers.0.in` by its number (line 4)";
    assert_eq!(try_edit(&numbered, &past("b", "a")), Err(why.to_owned()));
}

#[test]
fn where_a_place_goes_by_keys_the_key_changes_and_where_it_goes_by_time_the_time() {
    let past = |layer: &str, past: &str| BenchEdit::Move { layer: layer.into(), past: past.into() };
    becomes(FLOW, &past("c", "b"), &FLOW.replace("30_c", "15_c"));
    becomes(FLOW, &past("a", "c"), &FLOW.replace("10_a", "40_a"));
    let said =
        edit(&"b".into(), &Original::of(FLOW.as_bytes()).expect("text"), &past("c", "b")).expect("fits");
    assert_eq!(said.said, "30_c has the key 15_c now: s goes by keys");
    assert_eq!((&*said.by, said.layer.as_deref()), ("the move of 30_c by hand", Some("c")));
    let timed =
        "layers:\n- { id: a, in: s, run: 5 }\n- { id: b, in: s, run: 6 }\n- { id: c, in: s, run: 20 }\n";
    becomes(
        timed,
        &past("c", "b"),
        &timed.replace("run: 20", "run: 6").replace(
            "- { id: b, in: s, run: 6 }\n- { id: c, in: s, run: 6 }",
            "- { id: c, in: s, run: 6 }\n- { id: b, in: s, run: 6 }",
        ),
    );
    becomes(timed, &past("a", "b"), &timed.replace("run: 5", "run: 7"));
    becomes(timed, &past("a", "c"), &timed.replace("run: 5", "run: 21"));
    let apart = "layers: [ { id: a, in: s }, { id: b, in: t } ]\n";
    assert_eq!(try_edit(apart, &past("a", "b")), Err("a and b stand in different places".to_owned()));
}

#[test]
fn rules_and_marks_are_written_in_the_bench_s_own_way() {
    let keep = |layer: &str, rule, keeping| BenchEdit::Keep { layer: layer.into(), rule, keeping };
    let with =
        FLOW.replace("10_a, from: { text: x } }", "10_a, from: { text: x }, keep: { persist: strip } }");
    becomes(FLOW, &keep("a", KeepRule::Persist, Keeping::Strip), &with);
    let both = with.replace("persist: strip }", "persist: strip, earlier: strip }");
    becomes(&with, &keep("a", KeepRule::Earlier, Keeping::Strip), &both);
    let refresh = BenchEdit::Refresh {
        layer: "c".into(),
        refresh: Refresh::Change { watch: vec!["cwd".into()], since: Since::First },
    };
    let rule = "    from: { text: x }\n    refresh: { change: [cwd], since: first }\n    # the end of c\n";
    becomes(FLOW, &refresh, &FLOW.replace("    from: { text: x }\n    # the end of c\n", rule));
    let place = BenchEdit::Place { layer: "c".into(), place: "t".into() };
    becomes(FLOW, &place, &FLOW.replace("in: s  #", "in: t  #"));
    let add = BenchEdit::AddMark { at: "tools".into(), ttl: Some("1h".into()) };
    becomes(FLOW, &add, &FLOW.replace("{ at: s } ]", "{ at: s }, { at: tools, ttl: 1h } ]"));
    let block = FLOW.replace("marks: [ { at: s } ]\n", "marks:\n  - at: s\n  - at: t\n");
    becomes(&block, &add, &format!("{block}  - {{ at: tools, ttl: 1h }}\n"));
    becomes(&block, &BenchEdit::RemoveMark(0), &block.replace("  - at: s\n", ""));
    let one = try_edit(&block, &BenchEdit::RemoveMark(1)).expect("it can go");
    becomes(&one, &BenchEdit::RemoveMark(0), &FLOW.replace("marks: [ { at: s } ]\n", ""));
    let none = FLOW.replace("marks: [ { at: s } ]\n", "");
    becomes(&none, &add, &format!("{none}marks: [{{ at: tools, ttl: 1h }}]\n"));
}

#[test]
fn a_bench_that_cannot_be_read_is_not_edited() {
    let why = try_edit("layers: [\n  { id: a", &toggle("a"));
    assert!(why.as_ref().is_err_and(|why| why.starts_with("line ")), "{why:?}");
    assert_eq!(try_edit(FLOW, &toggle("z")), Err("the bench has no layer `z`".to_owned()));
}

#[test]
fn undo_never_goes_over_an_outside_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bench.yaml");
    std::fs::write(&path, FLOW).expect("a file");
    let put = |change: &BenchEdit| {
        let original = Original::read(&path).expect("text");
        let edited = edit(&"bench.yaml".into(), &original, change).expect("it fits");
        write(&path, &original, &edited).expect("it is written")
    };
    let first = put(&toggle("a"));
    let second = put(&toggle("b"));
    assert!(undo(&path, &first).is_err(), "the second one is in the way");
    undo(&path, &second).expect("it goes back");
    undo(&path, &first).expect("it goes back");
    assert_eq!(std::fs::read_to_string(&path).expect("there"), FLOW);
    let third = put(&toggle("c"));
    let other = std::fs::read_to_string(&path).expect("there") + "# by somebody else\n";
    std::fs::write(&path, &other).expect("a file");
    assert!(undo(&path, &third).is_err_and(|why| why.contains("was changed since")));
    assert_eq!(std::fs::read_to_string(&path).expect("there"), other);
}

/// Every bench at hand: its name and text.
fn benches() -> &'static [(String, String)] {
    static BENCHES: std::sync::OnceLock<Vec<(String, String)>> = std::sync::OnceLock::new();
    BENCHES.get_or_init(read_benches)
}

fn read_benches() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found: Vec<(String, String)> = Vec::new();
    for sample in crate::io::samples::samples() {
        let bench = sample.files.iter().find(|(path, _)| *path == "bench.yaml").expect("a bench");
        found.push((sample.name.to_owned(), String::from_utf8(bench.1.to_vec()).expect("UTF-8")));
    }
    for entry in std::fs::read_dir(root.join("tests/it/sketches")).expect("the sketches") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push((path.display().to_string(), std::fs::read_to_string(&path).expect("a bench")));
        }
    }
    found.push(("flow".to_owned(), FLOW.to_owned()));
    found.sort();
    assert!(found.len() > 4);
    found
}

/// A random edit of a bench, from numbers.
fn random(root: &Node, kind: usize, a: usize, b: usize, word: &str) -> BenchEdit {
    let keys = |key: &str| -> Vec<Name> {
        let node = root.get(key);
        node.map(|node| node.entries().iter().map(|entry| entry.key.clone()).collect()).unwrap_or_default()
    };
    let layers: Vec<(Name, Option<Name>)> = root
        .get("layers")
        .map(|layers| layers.items())
        .unwrap_or_default()
        .iter()
        .filter_map(|layer| {
            Some((layer.get("id")?.text.clone(), layer.get("in").map(|place| place.text.clone())))
        })
        .collect();
    let pick =
        |list: &[Name], n: usize| list.get(n % list.len().max(1)).cloned().unwrap_or_else(|| "new".into());
    let (layer, place) = layers[a % layers.len()].clone();
    let mates: Vec<Name> = layers
        .iter()
        .filter(|(other, at)| *at == place && *other != layer)
        .map(|(other, _)| other.clone())
        .collect();
    let value = match b % 6 {
        0 => Value::Bool(true),
        1 => Value::Int(b as i64),
        2 => Value::Float(0.5),
        3 => Value::list([Value::text(word), Value::Null]),
        4 => Value::map([("k", Value::text(word))]),
        _ => Value::text(word),
    };
    match kind {
        0 => BenchEdit::Model(word.into()),
        1 => BenchEdit::AgentField(pick(&keys("agent"), a), value),
        2 => BenchEdit::AgentField("extra".into(), value),
        3 => BenchEdit::Fact(pick(&keys("facts"), a), value),
        4 => BenchEdit::Fact("extra".into(), value),
        5..=8 => BenchEdit::Toggle(layer),
        9..=12 => BenchEdit::Move { layer, past: pick(&mates, b) },
        13 => BenchEdit::Place { layer, place: pick(&keys("places"), b) },
        14 => BenchEdit::Refresh {
            layer,
            refresh: match b % 3 {
                0 => Refresh::Session,
                1 => Refresh::Call,
                _ => Refresh::Change { watch: vec!["cwd".into(), word.into()], since: Since::Built },
            },
        },
        15 => BenchEdit::Keep {
            layer,
            rule: if b.is_multiple_of(2) { KeepRule::Earlier } else { KeepRule::Persist },
            keeping: if a.is_multiple_of(2) { Keeping::Keep } else { Keeping::Strip },
        },
        16 => {
            BenchEdit::AddMark { at: pick(&keys("places"), b), ttl: a.is_multiple_of(2).then(|| "1h".into()) }
        }
        17 => BenchEdit::RemoveMark(b % 3),
        18 => BenchEdit::RemoveAgentField(pick(&keys("agent"), a)),
        19 => BenchEdit::RemoveFact(pick(&keys("facts"), a)),
        20 => BenchEdit::MarkLife { mark: a % 3, ttl: b.is_multiple_of(2).then(|| "1h".into()) },
        _ => {
            let rules =
                [Rule::When, Rule::Key, Rule::Run, Rule::Refresh, Rule::Earlier, Rule::Persist, Rule::Budget];
            let to = match b % 4 {
                0 => None,
                1 => Some(Value::Int(b as i64)),
                2 => Some(Value::text(word)),
                _ => Some(Value::text("strip")),
            };
            BenchEdit::Rule { layer, rule: rules[a % rules.len()], to }
        }
    }
}

/// The value that an edit is about, in a tree.
fn value_after(root: &Node, edit: &BenchEdit) -> Option<Value> {
    let layer = |id: &Name| {
        root.get("layers")?.items().iter().find(|l| l.get("id").is_some_and(|i| i.text == *id)).cloned()
    };
    let of = |node: Option<&Arc<Node>>| node.map(|node| node.value());
    match edit {
        BenchEdit::Model(_) => of(root.get("model")),
        BenchEdit::AgentField(name, _) => of(root.get("agent")?.get(name)),
        BenchEdit::Fact(name, _) => of(root.get("facts")?.get(name)),
        BenchEdit::Toggle(id) => of(layer(id)?.get("when")),
        BenchEdit::Place { layer: id, .. } => of(layer(id)?.get("in")),
        BenchEdit::Refresh { layer: id, .. } => of(layer(id)?.get("refresh")),
        BenchEdit::RemoveAgentField(name) => of(root.get("agent")?.get(name)),
        BenchEdit::RemoveFact(name) => of(root.get("facts")?.get(name)),
        BenchEdit::MarkLife { mark, .. } => of(root.get("marks")?.items().get(*mark)?.get("ttl")),
        BenchEdit::Rule { layer: id, rule, .. } => {
            let layer = layer(id)?;
            let node = rule.path().iter().try_fold(&*layer, |node, step| node.get(step).map(|node| &**node));
            node.map(Node::value)
        }
        BenchEdit::Keep { layer: id, rule, .. } => {
            of(layer(id)?.get("keep")?.get(if *rule == KeepRule::Earlier { "earlier" } else { "persist" }))
        }
        _ => None,
    }
}

/// The layers of a place in the order of their bytes.
fn byte_order(root: &Node, place: &str) -> Vec<Name> {
    let by_key = root
        .get("places")
        .and_then(|places| places.get(place)?.get("order").cloned())
        .is_some_and(|order| &*order.text == "key");
    let items = root.get("layers").map(|layers| layers.items()).unwrap_or_default();
    let mut layers: Vec<Layer<'_>> =
        items.iter().enumerate().map(|(index, node)| Layer { index, node }).collect();
    layers.retain(|layer| layer.text("in") == Some(place));
    layers.sort_by(|a, b| {
        let by =
            |layer: &Layer<'_>| (if by_key { layer.key().to_owned() } else { String::new() }, layer.run());
        by(a).cmp(&by(b))
    });
    layers.iter().map(|layer| layer.text("id").unwrap_or_default().into()).collect()
}

proptest! {
    // Two edits each on average, so more than a thousand of them.
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Any edit of any bench: the value is as intended, every comment is there, every line that is not meant has its
    /// bytes, and going back restores the file; or it is refused with a reason.
    #[test]
    fn an_edit_does_what_it_says_or_is_refused(
        bench in any::<prop::sample::Index>(), crlf: bool,
        edits in prop::collection::vec((0usize..26, any::<u16>(), any::<u16>(), "[a-z:# '\"{},你-]{1,6}"), 1..4),
    ) {
        let benches = benches();
        let (name, text) = &benches[bench.index(benches.len())];
        let text = if crlf { text.replace('\n', "\r\n") } else { text.clone() };
        let file: Name = name.as_str().into();
        let mut now = text.clone();
        let mut back = Vec::new();
        for (kind, a, b, word) in edits {
            let root = parse(&file, &now).expect("a bench");
            let change = random(&root, kind, a.into(), b.into(), &word);
            let original = Original::of(now.as_bytes()).expect("text");
            let edited = match edit(&file, &original, &change) {
                Ok(edited) => edited,
                Err(reason) => {
                    prop_assert!(!reason.is_empty() && !reason.ends_with('.'));
                    // What benches are most often edited in is never refused here.
                    let must = matches!(change, BenchEdit::Model(_) | BenchEdit::Toggle(_));
                    prop_assert!(!must || reason == "the bench says so already", "{change:?}: {reason}");
                    continue;
                }
            };
            let after = spliced(&now, &edited.splices);
            let root_after = parse(&file, &after).expect("it can be read");
            match &change {
                BenchEdit::Model(to) => prop_assert_eq!(value_after(&root_after, &change), Some(Value::Text(to.clone()))),
                BenchEdit::Fact(_, to) | BenchEdit::AgentField(_, to) => {
                    prop_assert_eq!(value_after(&root_after, &change), Some(to.clone()));
                }
                BenchEdit::RemoveFact(_) | BenchEdit::RemoveAgentField(_) => {
                    prop_assert!(value_after(&root, &change).is_some() && value_after(&root_after, &change).is_none());
                }
                BenchEdit::Rule { to, .. } => prop_assert_eq!(value_after(&root_after, &change), to.clone()),
                BenchEdit::MarkLife { ttl, .. } => {
                    prop_assert_eq!(value_after(&root_after, &change), ttl.clone().map(Value::Text));
                }
                BenchEdit::Refresh { refresh, .. } if !matches!(refresh, Refresh::Change { .. }) => {
                    prop_assert_eq!(value_after(&root_after, &change), Some(Value::text(refresh.word())));
                }
                BenchEdit::Keep { keeping, .. } => {
                    let word = if *keeping == Keeping::Keep { "keep" } else { "strip" };
                    prop_assert_eq!(value_after(&root_after, &change), Some(Value::text(word)));
                }
                BenchEdit::Place { place, .. } => prop_assert_eq!(value_after(&root_after, &change), Some(Value::Text(place.clone()))),
                BenchEdit::Toggle(_) => {
                    let (was, is) = (value_after(&root, &change), value_after(&root_after, &change));
                    let text = |value: &Option<Value>| value.as_ref().map(ToString::to_string);
                    let is_off = |value: &Option<Value>| text(value).is_some_and(|t| t == "false" || t.starts_with("false and ("));
                    prop_assert_ne!(is_off(&was), is_off(&is));
                }
                BenchEdit::Move { layer, past } => {
                    let place = |root: &Node| layer_of(root, layer).expect("the layer").text("in").expect("a place").to_owned();
                    let at = |root: &Node, id: &Name| byte_order(root, &place(root)).iter().position(|other| other == id);
                    prop_assert_ne!(at(&root, layer) < at(&root, past), at(&root_after, layer) < at(&root_after, past));
                    let others = |root: &Node| { let mut order = byte_order(root, &place(root)); order.retain(|id| id != layer); order };
                    prop_assert_eq!(others(&root), others(&root_after), "the others stay in order");
                }
                _ => {}
            }
            // What was not meant is there.
            let comments = |text: &str| -> Vec<String> {
                let mut lines: Vec<String> =
                    text.lines().filter(|line| line.trim_start().starts_with('#')).map(str::to_owned).collect();
                lines.sort();
                lines
            };
            prop_assert_eq!(comments(&now), comments(&after));
            let cut: String = edited.splices.iter().map(|splice| &now[splice.range.clone()]).collect();
            match &change {
                BenchEdit::Move { .. } => {
                    let sorted = |text: &str| { let mut lines: Vec<String> = text.lines().map(str::to_owned).collect(); lines.sort(); lines };
                    let (before, behind) = (sorted(&now), sorted(&after));
                    let lost = before.iter().filter(|line| !behind.contains(line)).count();
                    prop_assert!(lost <= 1 && before.len().abs_diff(behind.len()) <= 1, "a layer's key or time at most");
                }
                BenchEdit::Fact(..)
                | BenchEdit::AgentField(..)
                | BenchEdit::Refresh { .. }
                | BenchEdit::Rule { .. }
                | BenchEdit::RemoveFact(_)
                | BenchEdit::RemoveAgentField(_)
                | BenchEdit::RemoveMark(_) => {}
                _ => prop_assert!(cut.matches('\n').count() <= 1, "{cut}"),
            }
            prop_assert_eq!(after.matches("\r\n").count() == after.matches('\n').count(), crlf || !after.contains('\n'));
            back.push(inverse(&now, &edited.splices));
            now = after;
        }
        while let Some(splices) = back.pop() {
            now = spliced(&now, &splices);
        }
        prop_assert_eq!(now, text);
    }
}
