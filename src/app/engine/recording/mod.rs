//! A log of real requests in the workbench: read into a session of recorded calls, and followed while it grows.

mod edge;

use std::path::Path;
use std::sync::Arc;

use self::edge::{READ_ONLY, RecordingEdge};
use super::control::{Engine, Options};
use super::numbers::Counters;
use crate::app::effect::EngineRequest;
use crate::app::snapshot::{Lost, Paid, Tone, VerdictLine};
use crate::app::views::{CauseRow, RecordedRow, RecordingView};
use crate::core::audit::{Call, Exchange, GroupBy, Judge, Layers, Repeats, Totals};
use crate::core::bench::Bench;
use crate::core::cache::Models;
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::Found;
use crate::core::run::{Answer, Lead, Player, Recorded, Session, ToolRun};
use crate::core::text::number::{counted, grouped};
use crate::core::wire::{BlockKind, CallNo, Request};
use crate::io::recording::{Log, News};

/// Bytes of text that the judge keeps of conversations.
const MEMORY: usize = 64 << 20;
/// Blocks of all requests together: what stands in several is kept once, but each request has its list. More calls are
/// not shown.
const BLOCKS: usize = 4 << 20;
/// Lines with something wrong that are listed.
const PROBLEMS: usize = 100;

/// A log, as far as it is read.
pub(super) struct Recording {
    log: Log,
    judge: Judge,
    calls: Vec<Call>,
    totals: Totals,
    problems: Vec<Arc<str>>,
    blocks: usize,
    repeats: Repeats,
    /// Calls that the log holds again.
    repeated: u64,
    /// Calls that are not shown.
    left_out: u64,
    models: Arc<Models>,
    /// Those of a bench, with its name: what its text is recognised by is blamed on them.
    layers: Option<(Arc<str>, Layers)>,
}

impl Recording {
    fn new(log: Log, models: Arc<Models>, layers: Option<(Arc<str>, Layers)>) -> Recording {
        let known = layers.as_ref().map(|(_, layers)| layers.clone());
        Recording {
            log,
            judge: Judge::new(models.clone(), Vec::new(), known, MEMORY),
            layers,
            calls: Vec::new(),
            totals: Totals::new(vec![GroupBy::Cause], 0),
            problems: Vec::new(),
            blocks: 0,
            repeats: Repeats::default(),
            repeated: 0,
            left_out: 0,
            models,
        }
    }

    /// The same log, of which nothing was read yet.
    fn anew(self) -> Recording {
        let path = self.log.path().to_owned();
        Recording::new(Log::open(&path, None).unwrap_or(self.log), self.models, self.layers)
    }

    /// Reads what there is by now.
    fn read(&mut self, counters: &mut Counters) -> Vec<Recorded> {
        let mut exchanges: Vec<Exchange> = Vec::new();
        let mut recorded = Vec::new();
        loop {
            let more = self.log.step(&mut |exchange| exchanges.push(exchange));
            if !more {
                self.log.pause(&mut |exchange| exchanges.push(exchange));
            }
            for exchange in exchanges.drain(..) {
                if self.repeats.is_repeat(0, &exchange) {
                    self.repeated += 1;
                    continue;
                }
                let call = self.judge.call(&exchange, counters);
                let Some(request) = self.judge.latest() else { continue };
                if self.blocks + request.blocks.len() > BLOCKS {
                    self.left_out += 1;
                    continue;
                }
                self.blocks += request.blocks.len();
                self.totals.add(0, &call);
                recorded.push(of(&call, request));
                self.calls.push(call);
            }
            if !more {
                break;
            }
        }
        for problem in self.log.problems() {
            if self.problems.len() < PROBLEMS {
                self.problems.push(format!("line {}: {}", problem.line, problem.message).into());
            }
        }
        recorded
    }

    /// The columns of pane 2, as they were reported; none where the log does not hold them.
    pub(super) fn paid(&self, call: CallNo) -> Option<Paid> {
        let call = self.call(call)?;
        let reported = call.reported?;
        Some(Paid {
            sent: Some(reported.sent),
            read: reported.read,
            write: reported.write,
            fresh: reported.read.map(|_| reported.fresh()),
            lost: match call.reported_lost {
                None => Lost::First,
                Some(lost) if lost == 0 || call.cause().is_none() => Lost::Nothing,
                Some(lost) => Lost::Tokens(lost),
            },
            estimate: false,
        })
    }

    fn call(&self, call: CallNo) -> Option<&Call> {
        self.calls.get((call.0 as usize).checked_sub(1)?)
    }

    /// The verdict on a call, by what was reported.
    pub(super) fn verdict(&self, call: CallNo) -> Option<VerdictLine> {
        let found = self.call(call)?;
        let text = says(found, &format!("call {} ", found.number));
        let tone = if is_bad(found) { Tone::Bad } else { Tone::Plain };
        let label = format!("CALL {}", call.0).into();
        Some(VerdictLine { label, text: text.into(), short: None, tone, at: None })
    }

    /// True where the rules of the model's cache lead to another verdict than what was reported.
    pub(super) fn differs(&self, call: CallNo) -> bool {
        self.call(call).is_some_and(Call::differs)
    }

    /// The data of the view.
    pub(super) fn view(&self, shown: CallNo) -> RecordingView {
        let kind = self.log.shape().map_or("no log of a kind that is known", |shape| shape.title());
        let mut about = format!(
            "{}: {kind}, {}, {} in {}",
            self.log.path().display(),
            counted(self.log.lines(), "line"),
            counted(self.totals.all.calls, "call"),
            counted(self.totals.conversations.len() as u64, "conversation"),
        );
        if self.repeated > 0 {
            about.push_str(&format!(", {} read before and counted once", counted(self.repeated, "call")));
        }
        if self.log.skipped() > 0 {
            about.push_str(&format!(", {} skipped", counted(self.log.skipped(), "line")));
        }
        let causes = self.totals.causes.iter().map(|(cause, group)| CauseRow {
            cause: cause.as_str().into(),
            calls: group.sums.calls,
            lost: group.sums.lost,
            cost: (group.sums.unpriced < group.sums.calls).then(|| group.sums.lost_cost.to_string().into()),
            first: CallNo(
                self.calls.iter().find(|call| call.line >= group.first.line).map_or(1, |call| call.number),
            ),
        });
        let mut causes: Vec<CauseRow> = causes.collect();
        causes.sort_by_key(|row| std::cmp::Reverse(row.lost));
        let rows = self.calls.iter().map(|call| RecordedRow {
            call: CallNo(call.number),
            conversation: (&*call.conversation).into(),
            reported: call.reported.map(|_| call.reported_figures()),
            expected: call.expected_figures(),
            estimate: call.is_estimate(),
            lost: call.lost(),
            says: says(call, &format!("call {} (line {}) ", call.number, call.line)).into(),
            bad: is_bad(call),
        });
        let mut notes: Vec<Arc<str>> = Vec::new();
        if let Some((bench, _)) = &self.layers {
            notes.push(format!("layers are those of {bench}, matched by their text").into());
        }
        for (id, tuned) in self.judge.calibrations() {
            if matches!(self.models.get(id).method, crate::core::tokens::Method::Estimate { .. }) {
                let factor = tuned.factor();
                notes.push(
                    format!("{id}: the provider's tokens are x{factor:.2} of those in its base vocabulary")
                        .into(),
                );
            }
        }
        if self.left_out > 0 {
            let more = grouped(self.left_out);
            notes.push(format!("{more} calls more are not shown; `plywood audit` reads all").into());
        }
        RecordingView {
            shown,
            about: about.into(),
            causes,
            rows: rows.collect(),
            problems: self.problems.clone(),
            notes,
        }
    }
}

/// What happened in a call, without the head of the sentence.
fn says(call: &Call, head: &str) -> String {
    match &call.error {
        Some(error) => format!("failed: {error}"),
        None => {
            let sentence = call.sentence(true);
            sentence.strip_prefix(head).unwrap_or(&sentence).to_owned()
        }
    }
}

fn is_bad(call: &Call) -> bool {
    call.error.is_some() || call.cause().is_some() && call.lost().is_some_and(|lost| lost > 0)
}

/// A call for the session.
fn of(call: &Call, request: &Request) -> Recorded {
    let last = request.blocks.last().and_then(|block| block.message);
    let fresh: Vec<_> =
        request.blocks.iter().filter(|block| last.is_some() && block.message == last).collect();
    let results: Vec<ToolRun> = fresh
        .iter()
        .filter(|block| block.kind == BlockKind::ToolResult)
        .map(|block| ToolRun {
            tool: block.tool.clone().unwrap_or_else(|| "tool".into()),
            argument: None,
            cwd: "".into(),
            stale: Vec::new(),
            lines: Vec::new(),
            searched: None,
        })
        .collect();
    let said = fresh.iter().rev().find(|block| block.kind == BlockKind::User);
    let lead = match said {
        _ if !results.is_empty() => Lead::Tools(results),
        Some(block) => Lead::User(block.text.text().clone()),
        None => Lead::Again,
    };
    let now = call.at.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    Recorded {
        request: request.clone(),
        lead,
        answer: call.error.as_ref().map_or(Answer::Sent, |error| Answer::Failed(error.as_str().into())),
        now: now
            .map_or_else(|| Arc::from(""), |now| now.strftime("%Y-%m-%d %H:%M:%S UTC").to_string().into()),
        notes: Vec::new(),
    }
}

/// A bench that stands for the program that was recorded.
fn bench(name: &str, agent: &str, model: &str) -> Result<Arc<Bench>, Vec<Diagnostic>> {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    // JSON texts are YAML texts.
    let yaml = format!(
        "bench: 1\nname: recording\ntitle: {}\nmodel: {}\nagent: {{ id: {}, role: main }}\nplaces:\n  system: {{ of: system }}\nlayers: []\n",
        text(name),
        text(model),
        text(agent),
    );
    let opened = crate::io::syntax::open("recording", yaml, &[], &mut |_: &_| Found::Absent)?;
    Ok(Arc::new(opened.bench))
}

/// A player of calls that were recorded.
fn player(bench: &Arc<Bench>, calls: Vec<Recorded>) -> Player {
    let mut player = Player::recorded(Session::recorded(bench.clone()));
    calls.into_iter().for_each(|call| player.record(call));
    player
}

impl Engine {
    /// Opens a log of real requests. What breaks a prefix in it is blamed on `layers`, those of the bench of this name,
    /// as far as the text is theirs.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or holds no call.
    pub fn open_recording(
        path: &Path,
        models: Arc<Models>,
        layers: Option<(Arc<str>, Layers)>,
    ) -> Result<Engine, Vec<Diagnostic>> {
        let log = Log::open(path, None).map_err(|problem| vec![problem])?;
        let mut recording = Recording::new(log, models.clone(), layers);
        let mut counters = Counters::default();
        let calls = recording.read(&mut counters);
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let first = calls.first().ok_or_else(|| {
            let problem =
                Diagnostic::error("it holds no model call".to_owned()).in_file(path.to_string_lossy());
            let kinds: Vec<&str> =
                crate::io::recording::formats::ALL.iter().map(|kind| kind.title()).collect();
            vec![problem.hint(format!("known are {}", kinds.join(", ")))]
        })?;
        let bench = bench(&name, &first.request.agent, &first.request.model)?;
        let player = player(&bench, calls);
        let log = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let edge = RecordingEdge { bench, log };
        let mut engine = Engine::with(Box::new(edge), models, Options::default(), player, Vec::new());
        engine.counters = counters;
        engine.recording = Some(recording);
        engine.shown = Some(CallNo(1));
        Ok(engine)
    }

    /// True for what a recording allows: to look at it.
    pub(super) fn allows(&self, request: &EngineRequest) -> Result<(), crate::core::run::Refused> {
        let looks = matches!(
            request,
            EngineRequest::Send
                | EngineRequest::Back
                | EngineRequest::Jump(_)
                | EngineRequest::Play
                | EngineRequest::Stop
                | EngineRequest::View(_)
                | EngineRequest::Zones(_)
                | EngineRequest::Compare(_)
                | EngineRequest::Look
                | EngineRequest::LookAgain
                | EngineRequest::CancelPreview
                | EngineRequest::CloseText
        );
        if self.recording.is_none() || looks {
            return Ok(());
        }
        let name = &self.player.session().bench().title;
        let name = name.as_deref().unwrap_or("LOG");
        Err(crate::core::run::Refused(format!(
            "{READ_ONLY}; `plywood init --from {name}` makes a bench of it, which can be changed"
        )))
    }

    /// Reads what was added to the log. True when there is something new.
    pub(super) fn read_on(&mut self) -> bool {
        let Some(mut recording) = self.recording.take() else { return false };
        let at_end = self.shown.is_none_or(|call| call.0 as usize >= self.player.session().calls().len());
        let mut anew = None;
        let mut calls = Vec::new();
        loop {
            match recording.log.look() {
                Ok(News::Same) => {}
                Ok(news) => {
                    // Nothing of what was read holds any more.
                    anew = Some(news);
                    recording = recording.anew();
                    calls.clear();
                }
                // It may come again.
                Err(_) => break,
            }
            let before = recording.log.progress().0;
            calls.extend(recording.read(&mut self.counters));
            if recording.log.progress().0 == before {
                break;
            }
        }
        self.recording = Some(recording);
        match anew {
            // Between two writes of somebody else there may be no call yet: what was shown stays until there is.
            Some(_) if calls.is_empty() => {
                self.note = "the log has another beginning now, and no call in it yet".into();
                self.player = player(self.player.session().bench(), Vec::new());
                self.shown = None;
                self.forget_sent();
                return true;
            }
            Some(news) => {
                let said = match news {
                    News::Truncated => "the log became shorter",
                    News::Replaced | News::Same => "another log stands in its place",
                };
                self.note = format!("{said}: it was read from its beginning").into();
                let old = self.player.session().bench();
                let first = &calls[0].request;
                let name = old.title.as_deref().unwrap_or_default();
                let bench = bench(name, &first.agent, &first.model).unwrap_or_else(|_| old.clone());
                self.player = player(&bench, calls);
                self.shown = Some(CallNo(1));
                self.forget_sent();
                return true;
            }
            None if calls.is_empty() => return false,
            None => {}
        }
        for call in calls {
            self.player.record(call);
        }
        self.forget_ahead();
        if at_end {
            // Whoever looks at the end wants to see what comes.
            self.shown = Some(CallNo(self.player.session().calls().len() as u32));
        }
        true
    }
}
