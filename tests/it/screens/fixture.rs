//! A snapshot of the sample just after its CWD changed, made by hand. The numbers are only there to be shown.

use std::sync::Arc;

use plywood::app::snapshot::*;
use plywood::app::views::Spot;
use plywood::core::diagnostic::Position;
use plywood::core::fact::{EventId, FactKey, Rev};
use plywood::core::text::{Builder, Made, Origin, Source, Traced};
use plywood::core::wire::{BlockKind, CallNo, MessageId};

fn layer(
    shown: &str,
    (byte, run, crossing): (ByteOrder, u32, bool),
    (chars, tokens): (u64, u64),
    (change, now): (&str, Now),
) -> LayerRow {
    let id = shown.split_once('_').map_or(shown, |(number, rest)| {
        if number.bytes().all(|b| b.is_ascii_digit()) { rest } else { shown }
    });
    LayerRow {
        id: id.into(),
        shown: shown.into(),
        byte,
        run: (run > 0).then_some(run),
        crossing,
        runs_by: "run: 100".into(),
        stands_by: "by key".into(),
        place: if byte == ByteOrder::User { "user" } else { "system" }.into(),
        chars,
        lines: chars / 30 + 1,
        bytes: chars,
        hash: chars,
        tokens_alone: Some(tokens + 1),
        tokens: Some(tokens),
        share: Some(tokens as f64 / 6_301.0),
        budget: None,
        change: change.into(),
        now,
        included: true,
        reason: None,
        truncated: None,
        source: Some(SourceAt { file: "prompt.md".into(), at: Position::START }),
        reads: vec![ReadRow { fact: "cwd".into(), value: "/home/shop".into(), cause: None }],
    }
}

fn call(no: u32, what: &str, short: &str, sent: u64, read: u64, lost: Lost) -> CallRow {
    CallRow {
        no: CallNo(no),
        turn: if no > 4 { 2 } else { 1 },
        starts_turn: no == 1 || no == 5,
        state: match no {
            1 => CallState::Sent,
            2 => CallState::Next,
            _ => CallState::Forecast,
        },
        what: what.into(),
        short: short.into(),
        paid: Some(Paid {
            sent: Some(sent),
            read: Some(read),
            fresh: Some(sent - read),
            lost,
            ..Paid::default()
        }),
        ..CallRow::default()
    }
}

fn injected(layer: &str, tokens: u64, part: usize) -> InjectedRow {
    InjectedRow {
        layer: layer.into(),
        tokens: Some(tokens),
        chars: tokens * 2,
        estimate: false,
        into: "message 4".into(),
        at: Some((3, part)),
    }
}

/// A block of several parts; the part with `{{cwd}}` has a fact in it, as a template would.
pub(crate) fn block(title: &str, kind: BlockKind, parts: &[(&str, &str, bool)]) -> BlockRow {
    let template = Arc::new(Source {
        name: "prompt.md".into(),
        text: "You are a coding agent.\nCWD: {{cwd}}\n".into(),
        rev: Rev(1),
        start: Position::START,
        jumps: Arc::default(),
    });
    let mut builder = Builder::default();
    let mut rows = Vec::new();
    for (author, text, injected) in parts {
        let start = builder.len();
        builder.begin((*author).into(), Arc::default());
        for (index, piece) in text.split("{{cwd}}").enumerate() {
            if index > 0 {
                let made = Made::Fact {
                    key: FactKey::named("cwd"),
                    rev: Rev(2),
                    placeholder: Some((template.clone(), 31..34)),
                };
                let origin = Origin { part: (*author).into(), made, cause: EventId(1) };
                builder.push("/home/shop", Arc::new(origin), false);
            }
            let made = Made::Verbatim { source: template.clone(), at: 0 };
            let cause = if *injected { EventId(1) } else { EventId::OPENING };
            let origin = Origin { part: (*author).into(), made, cause };
            builder.push(piece, Arc::new(origin), false);
        }
        rows.push(PartRow {
            author: (*author).into(),
            injected: *injected,
            layer: (!author.contains(' ') && !["user", "model"].contains(author))
                .then(|| author.split_once('_').map_or(*author, |(_, id)| id).into()),
            range: start..builder.len(),
            changed: false,
            cause: injected.then(|| "Cd in call 1".into()),
        });
    }
    let number = title.strip_prefix("message ").and_then(|rest| rest.split(' ').next()?.parse().ok());
    BlockRow {
        title: title.into(),
        kind,
        message: number.map(MessageId),
        text: builder.finish(),
        parts: rows,
        change: BlockChange::Same,
        tokens: Some(189),
        injected: Some(if parts.iter().any(|(.., injected)| *injected) { 168 } else { 0 }),
        mark: None,
    }
}

fn way(label: &str, variants: &[&str], (stale, untold): (u32, u32), lost: u64, money: f64) -> WayRow {
    WayRow {
        variants: variants.iter().map(|name| (*name).into()).collect(),
        label: label.into(),
        indent: label.starts_with("and"),
        current: variants.is_empty(),
        old: false,
        outcome: Some(WayOutcome {
            stale,
            superseded: 0,
            untold,
            lost: Some(lost),
            per_1000: Some(money),
            estimate: false,
            failed: None,
        }),
    }
}

fn layers() -> LayerTable {
    let number = ByteOrder::Number;
    let rows = vec![
        LayerRow {
            id: "tools".into(),
            shown: "tools (7)".into(),
            ..layer("tools", (ByteOrder::None, 0, false), (6_012, 1_486), ("fixed", Now::Same))
        },
        layer("00_base", (number(1), 1, false), (5_604, 1_412), ("turn", Now::Old(vec!["cwd".into()]))),
        layer("05_channel", (number(2), 3, true), (842, 231), ("fixed", Now::Same)),
        layer("05_project_hint", (number(3), 2, true), (1_120, 402), ("60 s", Now::Same)),
        layer("10_skills", (number(4), 4, false), (7_310, 1_655), ("turn", Now::Same)),
        layer("15_agents", (number(5), 5, false), (1_944, 438), ("turn", Now::Same)),
        layer("20_memory", (number(6), 6, false), (2_210, 611), ("turn", Now::Same)),
        layer("30_sender", (number(7), 7, false), (31, 8), ("turn", Now::Same)),
        layer("user_message", (ByteOrder::User, 8, false), (129, 58), ("turn", Now::Same)),
    ];
    let total = TotalRow { label: "total, call 1".into(), chars: 25_208, joins: 6, tokens: Some(6_301) };
    LayerTable { rows, total: Some(total) }
}

fn calls() -> CallTable {
    let mut rows = vec![
        call(1, "user: Move into the api folder and fix the failing test.", "user", 6_301, 0, Lost::First),
        call(2, "next, not sent yet", "Cd api", 6_518, 6_272, Lost::Nothing),
        call(3, "Read, Shell", "Read, Shell", 10_801, 6_400, Lost::Nothing),
        call(4, "Edit", "Edit", 11_360, 10_752, Lost::Nothing),
        call(5, "turn 2: Run the whole suite.", "turn 2", 11_026, 1_536, Lost::Tokens(9_472)),
        call(6, "Shell", "Shell", 12_117, 11_008, Lost::Nothing),
    ];
    rows[0].answer = Some("model called Cd api".into());
    rows[1].injected = vec![injected("dynamic-context", 47, 1), injected("system-reminder", 121, 2)];
    let footnote = Some("3-6 are forecast from the script".into());
    CallTable { rows, shown: Some(1), write_fee: false, closing: Vec::new(), footnote, by_hand: None }
}

fn request() -> RequestView {
    let mut tool = block(
        "message 4 (tool)",
        BlockKind::ToolResult,
        &[
            ("tool result, Cd", "Changed directory to /home/shop/api", false),
            (
                "dynamic-context",
                "\n\n<dynamic-context>\n环境变化:\n- 当前目录已切换为：/home/shop/api，切换后所有 Shell 命令在新目录执行\n</dynamic-context>",
                true,
            ),
            (
                "system-reminder",
                "\n\n<system-reminder>\n用户原始需求: Move into the api folder and fix the failing test.\n已完成 1 次工具调用\n本轮使用: Cd 🙂\n继续\n保持目标\n不要重复\n先读后写\n</system-reminder>",
                true,
            ),
        ],
    );
    tool.change = BlockChange::New;
    let blocks = vec![
        block(
            "system",
            BlockKind::System,
            &[
                ("00_base", "You are a coding agent.\nCWD: {{cwd}}\n", false),
                ("05_channel", "\n渠道: feishu", false),
            ],
        ),
        block(
            "message 2 (user)",
            BlockKind::User,
            &[("user", "Move into the api folder and fix the failing test.", false)],
        ),
        block(
            "message 3 (assistant), call Cd",
            BlockKind::ToolUse,
            &[("model", "{\"path\":\"api\"}", false)],
        ),
        tool,
    ];
    RequestView {
        call: CallNo(2),
        agent: None,
        blocks,
        focus: 3,
        bytes: 25_931,
        tokens: Some(6_518),
        sent: None,
        causes: [(EventId(1), "Cd in call 1".into())].into(),
    }
}

fn why() -> Why {
    let change = Change {
        what: "CWD".into(),
        old: "/home/shop".into(),
        new: "/home/shop/api".into(),
        by: "Cd, call 1".into(),
        told: vec!["dynamic-context, call 2, message 4".into()],
        still_old: vec!["00_base, prompt.md:9:6".into()],
        belief: Belief::Superseded,
        belief_words: "superseded by message 4, not stale".into(),
        told_at: vec![Spot {
            author: "dynamic-context".into(),
            message: Some(MessageId(4)),
            ..Spot::default()
        }],
        old_at: vec![Spot { author: "base".into(), ..Spot::default() }],
    };
    let rows = vec![
        way("tool message", &[], (0, 0), 9_472, 64.38),
        way("own user message", &["own_message"], (0, 0), 9_472, 64.42),
        way("rebuild system at once", &["rebuild_system"], (0, 0), 9_472, 64.03),
        way("never", &["never"], (5, 0), 4_736, 53.37),
        way("no cwd in 00_base", &["no_cwd_in_base"], (0, 2), 4_736, 53.65),
        way("and keep tags on persist", &["no_cwd_in_base", "keep_tags"], (0, 0), 0, 43.60),
    ];
    let notes = vec![
        "Turn 1 alone: tool message 34.75, rebuild 45.05.".into(),
        "Turn 2 takes the lead back: the break comes then.".into(),
    ];
    Why {
        changes: vec![change],
        pending: Vec::new(),
        ways: Ways { calls: 6, rows, left: 0, notes },
        notes: Vec::new(),
    }
}

/// The whole snapshot.
pub(crate) fn xbot() -> Snapshot {
    let fields = [("id", "main"), ("role", "main"), ("session", "s-01")];
    let choice = |name: &str, on| VariantChoice { name: name.into(), on };
    Snapshot {
        data: plywood::app::views::ViewData::None,
        lines: std::collections::BTreeMap::new(),
        recorded: false,
        generation: 1,
        title: Title {
            name: "xbot".into(),
            note: "sample, scratch copy".into(),
            run: Some("cd".into()),
            branch: None,
            turn: 1,
            turns: 2,
            pause: Pause::Before(CallNo(2)),
            calls: 6,
        },
        agent: AgentInfo {
            fields: fields.map(|(key, value)| (key.into(), value.into())).to_vec(),
            cwd: "/home/shop/api".into(),
            cwd_was: Some(Was { value: "/home/shop".into(), cause: "Cd in call 1".into() }),
            tools: 7,
            clock: "09:00 CST".into(),
        },
        model: ModelInfo {
            id: "openai:gpt-5.4".into(),
            guidance: "guidance: no rules in bench".into(),
            tokens: TokenMethod { name: "o200k".into(), estimate: None },
            cache: "128 blocks, min 1,024".into(),
            prices: Some(Prices { input: 2.5, read: Some(0.25), write: None, date: "2026-11-30".into(), note: "".into() }),
            window: Some(400_000),
        },
        layers: layers(),
        blocks: Arc::default(),
        places: Vec::new(),
        can_undo: true,
        can_redo: false,
        calls: calls(),
        request: request(),
        why: why(),
        verdict: vec![
            VerdictLine {
                label: "CALL 2".into(),
                text: "appended: 217 tokens at the end, 6,272 of 6,518 read. System message unchanged (sha256 7c1fe0d2).".into(),
                short: Some("appended: +217 tokens, 6,272 of 6,518 read. System unchanged.".into()),
                tone: Tone::Good,
                at: None,
            },
            VerdictLine {
                label: "AHEAD".into(),
                text: "1 break, 9,472 tokens paid again: call 5, byte 386 of system, 00_base {{cwd}} prompt.md:9:6, by Cd in call 1.".into(),
                short: Some("call 5 loses 9,472: system byte 386, 00_base {{cwd}} prompt.md:9:6.".into()),
                tone: Tone::Bad,
                at: Some(Spot { call: Some(CallNo(5)), author: "base".into(), ..Spot::default() }),
            },
        ],
        caption: None,
        demo: None,
        programs: None,
        diagnostics: Vec::new(),
        lints: Vec::new(),
        broken: false,
        status: Status { watching: "watching 11 files".into(), ..Status::default() },
        choices: Choices {
            variants: vec![choice("rebuild_system", false), choice("never", true), choice("keep_tags", false)],
            models: vec![
                ModelChoice { id: "openai:gpt-5.4".into(), about: "o200k, exact; 128 blocks".into(), on: true },
                ModelChoice { id: "anthropic:claude-sonnet-5".into(), about: "~ x1.31; marks".into(), on: false },
            ],
            runs: vec![RunChoice { name: "cd".into(), about: "6 calls, 2 turns".into(), on: true }],
            folders: ["/home/shop", "/home/shop/api", "/home/shop/api/v1", "/home/shop/app", "/home/shop/网页"]
                .map(Arc::from)
                .into(),
        },
        draft: None,
        sheet: None,
        hand: None,
        facts_now: Vec::new(),
        edited: None,
        opened: None,
        diff: None,
        asked: 0,
    }
}

/// A text of one part, as big as asked for.
pub(crate) fn long_text(bytes: usize) -> Traced {
    let line = "- 当前目录已切换为新的目录, and every shell command runs there from now on.\n";
    Traced::whole("long", line.repeat(bytes / line.len() + 1), Made::Literal, EventId::OPENING)
}
