//! The shown call beside another one: of this branch or of another.

use std::sync::Arc;

use super::control::Engine;
use super::publish;
use crate::app::diff::{DiffBlock, DiffRun, DiffView, With, WithChoice};
use crate::core::run::{CallRecord, Player, Session};
use crate::core::wire::{CallNo, Request};

/// What the shown call is compared with, while somebody looks at it.
#[derive(Default)]
pub(super) struct Comparing {
    with: With,
    /// The latest comparison, with what it was made of.
    made: Option<(Made, Arc<DiffView>)>,
}

/// What a comparison was made of.
#[derive(PartialEq)]
pub(super) struct Made {
    with: With,
    old: Option<(u32, CallNo)>,
    branch: usize,
    call: CallNo,
    calls: Vec<usize>,
    hashes: (Vec<u64>, Vec<u64>),
}

impl Engine {
    /// Compares the shown call with another one from now on; none ends it.
    pub(super) fn compare(&mut self, with: Option<With>) {
        match (with, &mut self.comparing) {
            (Some(with), Some(comparing)) => comparing.with = with,
            (Some(with), none) => *none = Some(Comparing { with, made: None }),
            (None, comparing) => *comparing = None,
        }
    }

    /// The player of a branch by its number from 0; none for the one that is on, and for numbers that there are not.
    fn other(&self, branch: u32) -> Option<&Player> {
        let at = branch as usize;
        match at.cmp(&self.branch) {
            std::cmp::Ordering::Less => self.others.get(at),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => self.others.get(at - 1),
        }
    }

    /// The comparison of what is shown, with what it was made of; none while nobody looks at it, or nothing is shown.
    pub(super) fn differences(
        &self,
        session: &Session,
        record: Option<&CallRecord>,
        request: Option<&Request>,
    ) -> Option<(Made, Arc<DiffView>)> {
        let comparing = self.comparing.as_ref()?;
        let (record, request) = (record?, request?);
        let old = self.old_side(session, record, comparing.with);
        let (label, old_call, of, old_request) = match old {
            Some((branch, label, record, request)) => {
                (label, branch.is_none().then_some(record.call), Some((branch, record.call)), request)
            }
            // Against nothing: all of it is new.
            None => {
                ("nothing before it".into(), None, None, Request { blocks: Vec::new(), ..request.clone() })
            }
        };
        let hashes = |request: &Request| request.blocks.iter().map(|block| block.hash).collect();
        let calls = |player: &Player| {
            player.session().calls().len() + usize::from(player.session().prepared().is_some())
        };
        let made = Made {
            with: comparing.with,
            old: of.map(|(branch, call)| (branch.unwrap_or(u32::MAX), call)),
            branch: self.branch,
            call: record.call,
            calls: self.others.iter().map(calls).chain([session.next_call().0 as usize]).collect(),
            hashes: (hashes(&old_request), hashes(request)),
        };
        if let Some((_, view)) = comparing.made.as_ref().filter(|(known, _)| *known == made) {
            return Some((made, view.clone()));
        }
        let blocks = publish::diff_blocks(session, &old_request, request);
        let new = match self.others.is_empty() {
            true => format!("call {}", record.call.0),
            false => format!("branch {}, call {}", self.branch + 1, record.call.0),
        };
        let view = Arc::new(DiffView {
            old: label,
            new: new.into(),
            old_call,
            new_call: record.call,
            count: blocks.iter().map(count).sum(),
            authors: authors(&blocks),
            blocks,
            choices: self.choices(session, record, comparing.with),
        });
        Some((made, view))
    }

    /// Keeps a comparison, so that the next snapshot need not make it again.
    pub(super) fn keep_differences(&mut self, made: Option<(Made, Arc<DiffView>)>) -> Option<Arc<DiffView>> {
        let view = made.as_ref().map(|(_, view)| view.clone());
        if let Some(comparing) = &mut self.comparing {
            comparing.made = made;
        }
        view
    }

    /// The branch (none for the one that is on), the label, the call and what it was sent.
    fn old_side<'s>(
        &'s self,
        session: &'s Session,
        record: &CallRecord,
        with: With,
    ) -> Option<(Option<u32>, Arc<str>, &'s CallRecord, Request)> {
        let own = |old: &'s CallRecord| {
            let label = format!("call {}", old.call.0);
            let label =
                if self.others.is_empty() { label } else { format!("branch {}, {label}", self.branch + 1) };
            Some((None, Arc::from(label), old, session.request(old.call)?))
        };
        let other = |branch: u32, call: CallNo| {
            let session = self.other(branch)?.session();
            let last = session.prepared().or_else(|| session.calls().last().map(|record| &**record))?;
            let old = publish::record(session, call).unwrap_or(last);
            let label = format!("branch {}, call {}", branch + 1, old.call.0);
            Some((Some(branch), Arc::from(label), old, session.request(old.call)?))
        };
        let before = || publish::before(session, record).and_then(own);
        match with {
            With::Before => before(),
            With::Call(call) => publish::record(session, call).and_then(own),
            // The branch that is on is no other one: the user has changed over to it.
            With::Branch(branch) => other(branch, record.call).or_else(before),
            With::Other(branch, call) => other(branch, call).or_else(|| {
                publish::record(session, call).filter(|_| branch as usize == self.branch).and_then(own)
            }),
        }
    }

    fn choices(&self, session: &Session, record: &CallRecord, with: With) -> Vec<WithChoice> {
        let choice = |title: String, about: String, choice: With| WithChoice {
            title: title.into(),
            about: about.into(),
            with: choice,
            on: choice == with,
        };
        let mut out = vec![choice("the call before".into(), String::new(), With::Before)];
        let others: Vec<u32> =
            (0..=self.others.len() as u32).filter(|branch| self.other(*branch).is_some()).collect();
        for &branch in &others {
            let title = format!("branch {}, the same call", branch + 1);
            out.push(choice(title, String::new(), With::Branch(branch)));
        }
        fn records(session: &Session) -> impl Iterator<Item = &CallRecord> {
            session.calls().iter().map(|record| &**record).chain(session.prepared())
        }
        for old in records(session).filter(|old| old.call != record.call) {
            out.push(choice(
                format!("call {}", old.call.0),
                publish::lead_words(old).0,
                With::Call(old.call),
            ));
        }
        for &branch in &others {
            for old in self.other(branch).into_iter().flat_map(|player| records(player.session())) {
                let title = format!("branch {}, call {}", branch + 1, old.call.0);
                out.push(choice(title, publish::lead_words(old).0, With::Other(branch, old.call)));
            }
        }
        out
    }
}

/// In how many places a block differs.
fn count(block: &DiffBlock) -> usize {
    match (&block.old, &block.new) {
        (Some(_), Some(_)) => block.runs.iter().filter(|run| matches!(run, DiffRun::Changed(_))).count(),
        _ => 1,
    }
}

/// Who wrote what differs, on either side.
fn authors(blocks: &[DiffBlock]) -> Vec<Arc<str>> {
    let mut out: Vec<Arc<str>> = Vec::new();
    for block in blocks {
        for pair in block.runs.iter().flat_map(|run| match run {
            DiffRun::Changed(pairs) => &pairs[..],
            DiffRun::Same { .. } => &[],
        }) {
            for (text, line) in [(&block.old, &pair.old), (&block.new, &pair.new)] {
                let (Some(text), Some((line, marks))) = (text, line) else { continue };
                let start = text.lines.get(*line).map_or(0, |line| line.start);
                let bytes = if marks.is_empty() {
                    vec![start]
                } else {
                    marks.iter().map(|mark| start + mark.start).collect()
                };
                for part in bytes.into_iter().filter_map(|byte| text.part_at(byte)) {
                    if !out.contains(&part.author) {
                        out.push(part.author.clone());
                    }
                }
            }
        }
    }
    out
}
