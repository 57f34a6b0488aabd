//! Every way of building a run, side by side: what the command prints, and what must hold whatever the bench.

use std::collections::BTreeMap;
use std::sync::Arc;

use plywood::app::engine::{Counters as EngineCounters, Disk, Edge, Numbers};
use plywood::core::cache::{Lane, Measures, Models};
use plywood::core::compare::{self, Comparison, Row, Volatility};
use plywood::core::fact::Name;
use plywood::core::fix;
use plywood::core::run::{Load, Player, Requests};
use plywood::core::tokens::{Encoding, LineCounter, Measure};
use plywood::io::bench_file::Machine;
use plywood::io::load::fixed_clock;
use plywood::io::{models, samples};
use proptest::prelude::*;
use serde_json::Value as Json;

use crate::cli::run;
use crate::session::{inputs, play, play_seen};
use crate::support::{Memory, player};

const MODELS: &str = "openai:gpt-5.4,anthropic:claude-sonnet-5";

#[derive(Default)]
struct Counters(BTreeMap<Encoding, LineCounter>);

impl Measures for Counters {
    fn of(&mut self, encoding: Encoding) -> &mut dyn Measure {
        self.0.entry(encoding).or_insert_with(|| LineCounter::new(encoding))
    }
}

fn ids() -> Vec<Name> {
    MODELS.split(',').map(Name::from).collect()
}

#[test]
fn the_table_of_the_sample_is_this() {
    let ran = run(&["compare", "xbot", "--models", MODELS]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    insta::assert_snapshot!("compare_xbot", ran.stdout);
}

#[test]
fn one_turn_alone_says_the_opposite() {
    let ran = run(&[
        "compare",
        "xbot",
        "--models",
        "gpt-5.4",
        "--variants",
        "rebuild_system",
        "--turns",
        "1",
        "--json",
    ]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let json: Json = serde_json::from_str(&ran.stdout).expect("JSON");
    let cost = |row: usize| {
        json["rows"][row]["models"]["openai:gpt-5.4"]["cost_per_1000"].as_f64().expect("a number")
    };
    assert!(cost(0) < cost(1), "announcing costs less in turn 1");
    let lost = |row: usize| json["rows"][row]["models"]["openai:gpt-5.4"]["lost"].as_u64().expect("a number");
    assert_eq!(lost(0), 0);
    assert!(lost(1) > 0);
}

#[test]
fn the_json_has_a_row_for_each_way_and_its_sums_are_those_of_its_calls() {
    let ran = run(&["compare", "xbot", "--models", MODELS, "--json"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let json: Json = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&json["schema"], &json["sums"]), (&"plywood.compare/1".into(), &"checked".into()));
    let rows = json["rows"].as_array().expect("rows");
    assert_eq!(rows[0]["variant"], "");
    assert!(rows.iter().any(|row| row["variant"] == "never" && row["stale"] == 5));
    assert!(rows.iter().any(|row| row["variant"] == "freeze" && row["same_as"] == "never"));
    for row in rows {
        let models = row["models"].as_object().expect("models");
        assert_eq!(models.len(), 2, "{row}");
        for (model, report) in models {
            let calls = report["calls"].as_array().expect("calls");
            let sum = |key: &str| calls.iter().map(|call| call[key].as_u64().unwrap_or(0)).sum::<u64>();
            assert_eq!(calls.len(), 6);
            assert_eq!(report["lost"].as_u64(), Some(sum("lost")), "{model} {}", row["variant"]);
            assert_eq!(report["sent"].as_u64(), Some(sum("sent")));
            assert_eq!(report["read"].as_u64(), Some(sum("read")));
            for call in calls {
                let of = |key: &str| call[key].as_u64().unwrap_or(0);
                assert_eq!(of("read") + of("write") + of("fresh"), of("sent"));
            }
            let cost: f64 = calls.iter().map(|call| call["cost"].as_f64().expect("a price")).sum();
            let told = report["cost_per_1000"].as_f64().expect("a price");
            assert!((cost * 1_000.0 - told).abs() < 1e-6, "{cost} {told}");
            let turns: u64 = report["turns"]
                .as_array()
                .expect("turns")
                .iter()
                .map(|turn| turn["lost"].as_u64().unwrap_or(0))
                .sum();
            assert_eq!(turns, sum("lost"));
        }
    }
    let layers = json["volatility"]["layers"].as_array().expect("layers");
    let base = layers.iter().find(|layer| layer["layer"] == "system_prompt").expect("the layer");
    // It moves with the directory, and only where a turn begins.
    assert!(base["at_turn"]["changed"].as_u64() > Some(0), "{base}");
    assert_eq!(base["in_turn"]["changed"], 0);
}

#[test]
fn a_model_without_prices_says_so() {
    let ran = run(&["compare", "xbot", "--models", "nobody:x-1", "--variants", "never"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains("n/a: no price for nobody:x-1"), "{}", ran.stdout);
    assert!(ran.stdout.contains("n/a: no cache rules for nobody:x-1"), "{}", ran.stdout);
    let json: Json = serde_json::from_str(
        &run(&["compare", "xbot", "--models", "nobody:x-1", "--variants", "never", "--json"]).stdout,
    )
    .expect("JSON");
    let report = &json["rows"][0]["models"]["nobody:x-1"];
    assert!(report["lost"].is_null() && report["cost_per_1000"].is_null());
}

#[test]
fn a_folder_without_runs_is_compared_by_its_one_request() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("AGENTS.md"), "# Rules\n").expect("a file");
    let path = folder.path().to_str().expect("UTF-8");
    let ran = run(&["compare", path, "--models", "openai:gpt-5.4", "--json"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let json: Json = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(json["rows"][0]["models"]["openai:gpt-5.4"]["lost"], 0, "{json}");
}

#[test]
fn what_cannot_be_meant_is_a_mistake() {
    for (args, want) in [
        (&["--variants", "nevr"][..], "there is no variant or policy `nevr`"),
        (&["--models", "gpt"][..], "--models gpt: write provider:model"),
        (&["--turns", "3"][..], "the run has no turn 3: it has 2"),
        (&["--layer", "nobody"][..], "there is no layer `nobody`"),
        (&["--apply", "never"][..], "a sample cannot be changed"),
    ] {
        let ran = run(&[&["compare", "xbot"], args].concat());
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{args:?}");
        assert!(ran.stderr.contains(want), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_way_is_written_into_the_bench_and_comments_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, content) in plywood::io::samples::find("xbot").expect("the sample").files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }
    let path = folder.path().to_str().expect("UTF-8").to_owned();
    let file = folder.path().join("bench.yaml");
    let before = std::fs::read_to_string(&file).expect("the bench");
    let args =
        ["compare", &path, "--models", MODELS, "--variants", "no_cwd_in_base+keep_tags+mark_last", "--json"];
    let then: Json = serde_json::from_str(&run(&args).stdout).expect("JSON");
    let ran = run(&["compare", &path, "--apply", "no_cwd_in_base+keep_tags+mark_last"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert!(ran.stdout.contains("line 14\n-   cwd_in_base: true     # the variant"), "{}", ran.stdout);
    let after = std::fs::read_to_string(&file).expect("the bench");
    let comments = |text: &str| text.matches('#').count();
    assert_eq!(comments(&before), comments(&after));
    // The bench is now what the way was.
    let args = ["compare", &path, "--models", MODELS, "--variants", "never", "--json"];
    let now: Json = serde_json::from_str(&run(&args).stdout).expect("JSON");
    assert_eq!(now["rows"][0]["models"], then["rows"][1]["models"]);
    let again = run(&["compare", &path, "--apply", "keep_tags"]);
    assert_eq!(again.status, 2);
    assert!(again.stderr.contains("the bench says so already"), "{}", again.stderr);
}

#[test]
fn what_is_not_replayed_as_it_was_sent_has_its_price() {
    // In turn 2 of xbot both injected tags are gone from the first tool message; the system prompt breaks before them.
    let ran = run(&["run", "xbot", "--json"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let lines: Vec<Json> = ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let with: Vec<u64> = lines
        .iter()
        .filter(|line| !line["ledger"].as_array().expect("a list").is_empty())
        .map(|line| line["call"].as_u64().expect("a number"))
        .collect();
    assert_eq!(with, [5]);
    let ledger = lines[4]["ledger"].as_array().expect("a list");
    let first = &ledger[0];
    assert!(first["sent"].as_u64() > first["replayed"].as_u64(), "{first}");
    let taken: Vec<&str> = first["taken_out"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|taken| taken["layer"].as_str())
        .collect();
    assert_eq!(taken, ["dynamic_context", "reminder"]);
    assert_eq!(first["taken_out"][0]["rule"], "persist: strip");
    let gpt = &first["models"]["openai:gpt-5.4"];
    assert_eq!(gpt["first"], false);
    // What it costs alone is what the bench loses where the system prompt does not break before it.
    let lost = gpt["lost"].as_u64().expect("a number");
    assert!(lost > 0 && gpt["cost"].as_f64().expect("a price") > 0.0, "{first}");
    let told = run(&["run", "xbot"]);
    assert!(
        told.stdout.contains("is sent as ")
            && told.stdout.contains("without dynamic-context (persist: strip)"),
        "{}",
        told.stdout
    );
    // Where the system prompt stays as it is, the call breaks here.
    let ran = run(&["run", "xbot", "--variant", "no_cwd_in_base", "--json"]);
    let fifth: Json = serde_json::from_str(ran.stdout.lines().nth(4).expect("call 5")).expect("JSON");
    let gpt = &fifth["ledger"][0]["models"]["openai:gpt-5.4"];
    assert_eq!((&gpt["first"], &gpt["lost"]), (&true.into(), &fifth["cache"]["openai:gpt-5.4"]["lost"]));
    // Wegent keeps what a user said and takes what was attached to it out.
    let ran = run(&["run", "wegent", "--json"]);
    let some = ran.stdout.lines().map(|line| serde_json::from_str::<Json>(line).expect("JSON"));
    let some: Vec<Json> =
        some.filter(|line| !line["ledger"].as_array().expect("a list").is_empty()).collect();
    assert!(!some.is_empty());
    for line in &some {
        let models = line["ledger"][0]["models"].as_object().expect("models");
        assert!(models.values().any(|model| model["lost"].as_u64() > Some(0)), "{line}");
    }
    // A report says the same.
    let report = run(&["report", "xbot"]);
    assert!(report.stdout.contains("## What was sent is not what is replayed\n"), "{}", report.stdout);
}

/// Whoever adds up a run comes to the same: the comparison, cache zones, what fixes are told apart by. And of each call, what
/// is lost is what the word says: no more than the shorter of it and the one before it, without what was read.
#[test]
fn all_sums_of_the_samples_agree() {
    let models = Arc::new(models::embedded());
    let ids: Vec<Name> =
        ["openai:gpt-5.4", "anthropic:claude-sonnet-5", "deepseek:deepseek-v4-pro"].map(Name::from).into();
    let lanes: Vec<Lane> = ids.iter().cloned().map(Lane::As).collect();
    let mut counters = EngineCounters::default();
    let machine = Machine { clock: fixed_clock("2026-04-01T09:00:00Z"), home: None };
    let mut rows = 0;
    for sample in samples::samples() {
        let mut disk = Disk::sample(sample, "", &machine).expect("a copy");
        let names = disk.variants();
        for variants in std::iter::once(Vec::new()).chain(names.into_iter().map(|name| vec![name])) {
            let (bench, _) = disk.bench(&variants).expect("a bench");
            for run in bench.runs.keys() {
                let load: &mut dyn Load = &mut disk;
                // A variant may make a run impossible: then there is nothing to add up.
                let Ok(player) = Player::start(bench.clone(), Some(&**run), load) else { continue };
                let player = player.forecast(load);
                let at = format!("{} {run} {variants:?}", sample.name);
                let row = Row::of(variants.clone(), player.session(), &models, &ids, &mut counters);
                assert_eq!(compare::check(&row, &models), Vec::new(), "{at}");
                let waits = player.session().prepared().is_some() && !player.session().calls().is_empty();
                if waits {
                    continue;
                }
                let mut numbers = Numbers::new(models.clone(), lanes.clone());
                numbers.extend(player.session(), true, &mut counters);
                let sums = fix::sums(player.session(), &lanes, &models, &mut counters);
                for (lane, sum) in sums.iter().enumerate() {
                    let compared = row.sum(lane, None);
                    let zones = numbers.totals(lane);
                    assert_eq!((zones, &ids[lane]), (sum.totals, &sum.model), "{at}");
                    assert_eq!(
                        (compared.lost, compared.cost, compared.sent),
                        (Some(zones.lost), Some(zones.cost), Some(zones.sent)),
                        "{at} on {}",
                        ids[lane]
                    );
                }
                let told = row.told(None);
                assert!(sums.iter().all(|sum| sum.misled == told.stale + told.untold), "{at}");
                rows += 1;
            }
        }
    }
    assert!(rows > 30, "{rows} rows were added up");
}

/// The same figures come out of the commands.
#[test]
fn run_and_compare_print_the_same_losses() {
    let compared = run(&["compare", "xbot", "--models", MODELS, "--variants", "keep_tags", "--json"]);
    let compared: Json = serde_json::from_str(&compared.stdout).expect("JSON");
    for (row, variant) in [(0, None), (1, Some("keep_tags"))] {
        for model in MODELS.split(',') {
            let mut args = vec!["run", "xbot", "--json", "--model", model];
            args.extend(variant.iter().flat_map(|name| ["--variant", name]));
            let ran = run(&args);
            assert_eq!(ran.status, 0, "{}", ran.stderr);
            let calls: Vec<Json> =
                ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
            let lost: u64 = calls.iter().map(|call| call["cache"][model]["lost"].as_u64().unwrap_or(0)).sum();
            assert_eq!(compared["rows"][row]["models"][model]["lost"], lost, "{model} {variant:?}");
        }
    }
}

/// A bench of layers that read one of two facts or none, and are made again by some rule; and a run that sets them.
fn benches() -> impl Strategy<Value = String> {
    let layer = (0usize..3, 0usize..3, 40usize..900, 0i64..2);
    let beat = (any::<bool>(), any::<bool>(), any::<bool>());
    (prop::collection::vec(layer, 1..6), prop::collection::vec(beat, 1..7), any::<bool>()).prop_map(
        |(layers, beats, by_key)| {
            let order = if by_key { ", order: key" } else { "" };
            let mut text = format!(
                "bench: 1\nname: any\nmodel: openai:gpt-5.4\n\
                 workspace: {{ path: project, shown_as: /w, clock: \"2026-04-01T09:00:00Z\" }}\n\
                 facts: {{ a: 0, b: 0 }}\ntools: [ {{ names: [Shell] }} ]\n\
                 places: {{ system: {{ of: system, join: \"\\n\"{order} }}, user: {{ of: current_user }} }}\nlayers:\n"
            );
            for (index, (fact, refresh, words, run)) in layers.into_iter().enumerate() {
                let fact = ["{{ a }}", "{{ b }}", "nothing"][fact];
                let refresh = ["session", "turn", "call"][refresh];
                let body = format!("line {index} of it. ").repeat(words / 4);
                text += &format!(
                    "  - {{ id: l{index}, in: system, run: {run}, key: k{index}, refresh: {refresh}, from: {{ text: \"says {fact}: {body}\" }} }}\n"
                );
            }
            text += "  - { id: said, in: user, from: { said: user } }\nmarks: [ { at: system } ]\n\
                     variants: { same: { facts.a: 0 }, other: { layers.l0.refresh: call } }\nruns:\n  one:\n    - user: Go.\n";
            for (number, (a, b, turn)) in beats.into_iter().enumerate() {
                if a {
                    text += &format!("    - set: {{ a: {number} }}\n");
                }
                if b {
                    text += &format!("    - set: {{ b: {number} }}\n");
                }
                text += "    - call: [ { Shell: { command: ls }, result: ok } ]\n";
                if turn {
                    text += &format!("    - say: Done.\n    - user: Again {number}.\n");
                }
            }
            text + "    - say: Fine.\n"
        },
    )
}

fn row(player: &Player, models: &Arc<Models>, names: &[&str], counters: &mut Counters) -> Row {
    let names = names.iter().map(|name| Name::from(*name)).collect();
    Row::of(names, player.session(), models, &ids(), counters)
}

fn played(text: &str, variants: &[&str]) -> Player {
    let mut memory = Memory::default();
    let mut player = player(text, variants, &mut memory);
    while player.beat(&mut memory).expect("it goes on") {}
    player
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A variant that says what the bench says gives the same numbers, and is known as the same.
    #[test]
    fn a_variant_equal_to_the_bench_gives_equal_numbers(text in benches()) {
        let models = Arc::new(models::embedded());
        let mut counters = Counters::default();
        let base = row(&played(&text, &[]), &models, &[], &mut counters);
        let same = row(&played(&text, &["same"]), &models, &["same"], &mut counters);
        prop_assert_eq!(&base.calls, &same.calls);
        prop_assert_eq!(base.sent, same.sent);
        let mut comparison = Comparison::of(ids(), vec![vec!["same".into()]], Vec::new());
        comparison.add(base);
        comparison.add(same.clone());
        prop_assert_eq!(comparison.same_as(&same).map(|row| row.names.len()), Some(0));
    }

    /// Walking over requests gives what asking for each of them gives, whatever happens in between.
    #[test]
    fn walking_over_requests_changes_nothing(inputs in prop::collection::vec(inputs(), 1..24)) {
        let (player, ..) = play(&inputs);
        let session = player.session();
        let mut requests = Requests::default();
        let calls = session.calls().iter().map(|record| record.call).chain(session.prepared().map(|next| next.call));
        for call in calls {
            prop_assert_eq!(requests.get(session, call).cloned(), session.request(call), "call {}", call.0);
        }
    }

    /// So it is for one that walks while the session goes on.
    #[test]
    fn walking_over_requests_goes_on_with_the_session(inputs in prop::collection::vec(inputs(), 1..60)) {
        let mut requests = Requests::default();
        let mut next = 0;
        play_seen(&inputs, &mut |session| {
            for record in &session.calls()[next..] {
                next += 1;
                assert_eq!(requests.get(session, record.call).cloned(), session.request(record.call), "call {next}");
            }
        });
    }

    /// Whatever the bench, the sums hold under both accounting rules.
    #[test]
    fn the_sums_hold(text in benches()) {
        let models = Arc::new(models::embedded());
        let mut counters = Counters::default();
        for variant in [&[][..], &["other"]] {
            let player = played(&text, variant);
            let row = row(&player, &models, variant, &mut counters);
            prop_assert_eq!(compare::check(&row, &models), Vec::new());
        }
    }

    /// The suggested order never loses more than today's, on any model, and keeps what is declared to run earlier in
    /// front where the place does not go by keys.
    #[test]
    fn the_suggested_order_never_loses_more(text in benches()) {
        let models = Arc::new(models::embedded());
        let mut counters = Counters::default();
        let player = played(&text, &[]);
        let bench = player.session().bench().clone();
        let mut volatility = Volatility::default();
        volatility.add(player.session());
        volatility.count(&mut LineCounter::new(Encoding::O200k));
        let today = vec![row(&player, &models, &[], &mut counters)];
        let mut candidates = Vec::new();
        for suggestion in compare::suggest(&bench, &volatility) {
            let other = Arc::new(compare::reordered(&bench, &suggestion));
            let mut memory = Memory::default();
            let mut player = Player::start(other, None, &mut memory).expect("it starts");
            while player.beat(&mut memory).expect("it goes on") {}
            // The same texts, in another order.
            let texts = |player: &Player| {
                let head = &player.session().calls()[0].head;
                let mut parts: Vec<String> = head.iter().flat_map(|block| block.text.parts().iter().map(|part| block.text[part].to_owned())).collect();
                parts.sort();
                parts
            };
            prop_assert_eq!(texts(&player), texts(&played(&text, &[])));
            if !suggestion.by_key {
                let runs: Vec<i64> = suggestion.order.iter().filter_map(|id| bench.layer(id)).map(|layer| layer.run).collect();
                prop_assert!(runs.is_sorted());
            }
            let rows = vec![row(&player, &models, &[], &mut counters)];
            candidates.push((suggestion, rows));
        }
        if let Some((_, worth)) = compare::pick(&today, &candidates) {
            for (index, worth) in worth.iter().enumerate() {
                prop_assert!(worth.lost_then <= worth.lost, "{}: {:?}", index, worth);
                prop_assert!(worth.cost_then <= worth.cost, "{}: {:?}", index, worth);
            }
        }
    }
}
