//! The ledger of a call.

use std::sync::Arc;

use crate::app::effect::TextPlace;
use crate::app::engine::numbers::{Numbers, with_labels};
use crate::app::engine::publish::{self, Counter};
use crate::app::snapshot::BlockRow;
use crate::app::views::{Form, LedgerRow, LedgerView, PieceRow, Size};
use crate::core::cache::short_id;
use crate::core::cache::{Model, Models, Outcome};
use crate::core::compare::{Unkept, unkept_in};
use crate::core::run::{Entry, Ledger, Piece, Player, Session, Stripped};
use crate::core::text::{Made, Traced};
use crate::core::wire::{Block, CallNo, MessageId};

/// The run's numbers for several models side by side.
pub struct Lanes<'a> {
    /// All models.
    pub models: &'a Models,
    /// The first lane is the run as it is sent; none until they are worked out.
    pub numbers: Option<&'a Numbers>,
}

/// The ledger of `call`, in a run that was played as far as its script goes; `numbers` are that run's.
pub fn ledger(
    player: &Player,
    call: CallNo,
    numbers: Option<&Numbers>,
    lanes: &Lanes<'_>,
    estimate: bool,
    mut counter: Counter<'_>,
) -> Option<LedgerView> {
    let session = player.session();
    let ledger = session.ledger(call)?;
    let request = session.request(call)?;
    let record = publish::record(session, call)?;
    let mut count = |texts: &mut dyn Iterator<Item = &Arc<Block>>| {
        let mut size = Size { bytes: 0, tokens: counter.is_some().then_some(0) };
        for block in texts {
            size.bytes += block.text.len() as u64;
            if let (Some(tokens), Some(counter)) = (&mut size.tokens, &mut counter) {
                *tokens += u64::from(block.tokens(counter));
            }
        }
        size
    };
    let head = count(&mut request.blocks.iter().take(record.head.len()));
    let outcome = ledger.replay.and_then(|call| numbers?.outcome(call, 0));
    let unkept = unkept(session, &ledger, lanes);
    let mut rows = Vec::with_capacity(ledger.entries.len());
    let mut total = [Size::default(); 3];
    for entry in &ledger.entries {
        let forms = [&entry.sent, &entry.persisted, &entry.replayed];
        let sizes = forms.map(|blocks| count(&mut blocks.iter()));
        for (sum, size) in total.iter_mut().zip(sizes) {
            sum.bytes += size.bytes;
            sum.tokens = size.tokens.map(|tokens| sum.tokens.unwrap_or(0) + tokens);
        }
        let (texts, first) =
            texts(session, &ledger, entry, forms, |block| count(&mut std::iter::once(block)).tokens);
        let pieces = entry
            .pieces
            .iter()
            .map(|piece| {
                let block = Block::new(entry.sent[0].kind, "".into(), None, None, piece.text.clone());
                piece_row(player, entry, piece, count(&mut std::iter::once(&block)), ledger.replay)
            })
            .collect();
        let cost = entry.differs().then(|| cost(session, entry.message, ledger.replay, outcome)).flatten();
        rows.push(LedgerRow {
            message: entry.message,
            title: publish::title(&entry.sent[0]).into(),
            sizes,
            differs: entry.differs(),
            cost: cost.map(Arc::from),
            by_model: by_model(&unkept, entry.message),
            text: entry.pieces.first().and_then(|piece| behind(player, piece)),
            pieces,
            texts,
            first,
        });
    }
    let sums = sums(session, &ledger, &rows, outcome);
    Some(LedgerView {
        call,
        agent: publish::sub_agent(session.bench(), &record.agent),
        turn: ledger.turn,
        persisted: ledger.persisted,
        replay: ledger.replay,
        estimate,
        head,
        rows,
        total,
        cost: sums.into_iter().map(Arc::from).collect(),
    })
}

/// What the differences cost, model by model.
fn unkept(session: &Session, ledger: &Ledger, lanes: &Lanes<'_>) -> Vec<Unkept> {
    let Some((numbers, call)) = lanes.numbers.zip(ledger.replay) else { return Vec::new() };
    let Some(record) = publish::record(session, call) else { return Vec::new() };
    let outcomes = numbers.outcomes(call);
    let models: Vec<Arc<Model>> = outcomes.iter().map(|outcome| lanes.models.get(&outcome.model)).collect();
    unkept_in(ledger, record, &models, outcomes)
}

/// One line for each model that pays for a message.
fn by_model(unkept: &[Unkept], message: MessageId) -> Vec<Arc<str>> {
    let own = unkept.iter().filter(|unkept| unkept.message == message).flat_map(|unkept| &unkept.costs);
    let known = own.filter(|cost| cost.lost.is_some());
    known.map(|cost| format!("{}: {}", short_id(&cost.model), cost.words()).into()).collect()
}

/// The blocks of a message in all forms, with the first of each.
fn texts(
    session: &Session,
    ledger: &Ledger,
    entry: &Entry,
    forms: [&Vec<Arc<Block>>; 3],
    mut tokens: impl FnMut(&Arc<Block>) -> Option<u64>,
) -> (Vec<BlockRow>, [Option<usize>; 3]) {
    let mut texts = Vec::new();
    let mut first = [None; 3];
    for (index, (form, blocks)) in Form::ALL.into_iter().zip(forms).enumerate() {
        first[index] = (!blocks.is_empty()).then_some(texts.len());
        let when = match (form, ledger.replay) {
            (Form::Sent, _) => format!(" in call {}", ledger.call.0),
            (Form::Persisted, _) => format!(" after turn {}", ledger.turn),
            (Form::Replayed, Some(call)) => format!(" in call {}", call.0),
            (Form::Replayed, None) => format!(" in turn {}", ledger.turn + 1),
        };
        for (at, block) in blocks.iter().enumerate() {
            let title = format!("{}, {}{when}", publish::title(block), form.word());
            let sent = entry.sent.get(at).filter(|_| form != Form::Sent);
            texts.push(publish::plain_block(session, block, sent, title, tokens(block)));
        }
    }
    (texts, first)
}

fn piece_row(player: &Player, entry: &Entry, piece: &Piece, size: Size, replay: Option<CallNo>) -> PieceRow {
    let session = player.session();
    let layer = session.bench().layer(&piece.part).map(|layer| layer.id.clone());
    let edited = entry.edited.filter(|_| piece.stripped.is_none() && (!piece.persisted || !piece.replayed));
    let stripped = match (&piece.stripped, edited) {
        (Some(stripped), _) => Some(taken_out(session, stripped, replay)),
        (None, Some(event)) => Some(format!("taken out by {}", session.event(event).label)),
        (None, None) => None,
    };
    PieceRow {
        author: publish::author(session, entry.sent[0].kind, &piece.part),
        layer,
        size,
        there: [piece.sent, piece.persisted, piece.replayed],
        stripped: stripped.map(Arc::from),
        text: behind(player, piece),
    }
}

/// Who takes a text out, by which rule and when.
fn taken_out(session: &Session, stripped: &Stripped, replay: Option<CallNo>) -> String {
    let rule = stripped.rule.word();
    match (stripped.by, stripped.from) {
        (Some(event), Some(call)) => {
            format!("stripped by {rule} at {}; not sent from call {} on", session.event(event).label, call.0)
        }
        (None, Some(call)) => format!("will be stripped by {rule} with call {}", call.0),
        _ => {
            let with = replay.map_or(String::new(), |call| format!(", before call {}", call.0));
            format!("will be stripped by {rule} when the turn ends{with}")
        }
    }
}

/// The text behind a piece: its layer's, the file that it shows, or the line of the script that said it.
fn behind(player: &Player, piece: &Piece) -> Option<TextPlace> {
    if player.session().bench().layer(&piece.part).is_some() {
        return Some(TextPlace::Layer(piece.part.clone()));
    }
    let span = piece.text.spans().first()?;
    match &span.origin.made {
        Made::Verbatim { source, at } => Some(TextPlace::Source(source.clone(), *at, None)),
        _ => said_by(player, &piece.text).map(TextPlace::Bench),
    }
}

/// The line of the script that led to a text.
fn said_by(player: &Player, text: &Traced) -> Option<crate::core::diagnostic::Position> {
    let cause = text.spans().first()?.origin.cause;
    player.lines().get(&cause).copied()
}

/// What it costs in the next turn that a message is not what it was.
fn cost(
    session: &Session,
    message: MessageId,
    replay: Option<CallNo>,
    outcome: Option<&Outcome>,
) -> Option<String> {
    let Some(call) = replay else { return Some("no next turn in the script: its cost is not known".into()) };
    let outcome = outcome?;
    let lost = |outcome: &Outcome| match outcome.lost() {
        Some(lost) => format!("{} paid again", outcome.n(lost)),
        None => "what it costs is n/a: no cache rules for this model".into(),
    };
    let blame = outcome.blame.as_ref()?;
    if blame.message == Some(message) {
        return Some(format!("call {} breaks here: {}", call.0, lost(outcome)));
    }
    let behind = outcome.behind.iter().enumerate().find(|(_, behind)| behind.blame.message == Some(message));
    let first = with_labels(session, |labels| blame.who(labels));
    if let Some((index, behind)) = behind {
        let fixed = if index == 0 { "that" } else { "all before it" };
        return Some(format!(
            "call {} breaks earlier, at {} ({first}); with only {fixed} fixed, {} would still be paid again here",
            call.0,
            blame.place(),
            outcome.n(behind.still_lost)
        ));
    }
    Some(format!("call {} breaks earlier, at {} ({first}): {} in all", call.0, blame.place(), lost(outcome)))
}

/// What there is to say of all differences together.
fn sums(session: &Session, ledger: &Ledger, rows: &[LedgerRow], outcome: Option<&Outcome>) -> Vec<String> {
    let differ = rows.iter().filter(|row| row.differs).count();
    let mut lines = Vec::new();
    let again = match ledger.replay {
        Some(call) => format!("call {}", call.0),
        None => "the next turn".into(),
    };
    lines.push(match differ {
        0 => format!("{again} is sent every message as it was sent here: nothing breaks in the messages"),
        1 => format!("1 message is other bytes in {again}"),
        n => format!("{n} messages are other bytes in {again}"),
    });
    if let Some(outcome) = outcome {
        lines.push(with_labels(session, |labels| outcome.sentence(labels)));
    }
    lines
}
