//! Edits of a bench file that keep every byte they do not mean: comments, order, quotes, spaces.
//!
//! A value is spliced where it stands. The result is read again and compared with the tree as it was meant to become;
//! where the two differ, the edit is refused and nothing is written.

mod fix;
mod key;
mod patch;
mod plan;
mod run;
mod sheet;
#[cfg(test)]
mod tests;
mod tree;
mod value;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub use self::fix::edits_of;
pub(crate) use self::run::laid as laid_run;
pub use self::run::problem_with as problem_with_run_name;
pub use self::sheet::{LayerSheet, MarkSheet, Sheet, Written};
pub use self::value::{typed, written_on_one_line};

use self::patch::Change;
use self::plan::plan;
use self::tree::{Refusal, Tree};
use super::text::{Original, SaveError, Splice};
use crate::core::bench::{Keeping, Refresh};
use crate::core::diff;
use crate::core::fact::{Name, Value};
use crate::core::fix::KeepRule;
use crate::core::run::Input;
use crate::io::syntax::node::Node;
use crate::io::syntax::{self, parse};

/// Something about a bench that can be changed in its file.
#[derive(Clone, Debug, PartialEq)]
pub enum BenchEdit {
    /// The model, as `provider:model`.
    Model(Name),
    /// A field of the agent.
    AgentField(Name, Value),
    /// The value of a fact.
    Fact(Name, Value),
    /// A field of the agent goes.
    RemoveAgentField(Name),
    /// A fact goes.
    RemoveFact(Name),
    /// A layer is left out, or taken in again. Its condition is kept: `when: x` becomes `when: false and (x)`.
    Toggle(Name),
    /// A layer goes to the other side of another one of the same place. Where the place goes by keys, the key is changed,
    /// and where the two run at different times, the time.
    Move {
        /// The layer.
        layer: Name,
        /// The one that it passes: its neighbour in the order of the bytes.
        past: Name,
    },
    /// A layer goes to another place.
    Place {
        /// The layer.
        layer: Name,
        /// The place.
        place: Name,
    },
    /// When a layer is made again.
    Refresh {
        /// The layer.
        layer: Name,
        /// The rule.
        refresh: Refresh,
    },
    /// What becomes of the text that a layer put into messages.
    Keep {
        /// The layer.
        layer: Name,
        /// Which of the two rules.
        rule: KeepRule,
        /// What it is from now on.
        keeping: Keeping,
    },
    /// One of the rules of a layer takes another value, or goes: then its default holds.
    Rule {
        /// The layer.
        layer: Name,
        /// Which rule.
        rule: Rule,
        /// What it is from now on; none to take it out of the file.
        to: Option<Value>,
    },
    /// A cache mark more, behind the others.
    AddMark {
        /// `tools`, `last_history`, `last_message`, or a place.
        at: Name,
        /// The life that it asks for, as benches write it: `1h`; none for the default.
        ttl: Option<Name>,
    },
    /// A cache mark asks for another life.
    MarkLife {
        /// The mark, by its number from 0.
        mark: usize,
        /// The life, as benches write it; none for the default.
        ttl: Option<Name>,
    },
    /// A cache mark less, by its number from 0.
    RemoveMark(usize),
    /// The bench says from now on what variants of it say: dotted paths and their values.
    Variant {
        /// What the variants are called.
        name: Name,
        /// What they change, in order.
        changes: Vec<syntax::Change>,
    },
    /// What happened becomes a run of the bench.
    Run {
        /// Its name.
        name: Name,
        /// Its lines, as [`crate::core::run::AsRun`] gives them.
        lines: Vec<Input>,
        /// True to write it over a run that has this name already.
        over: bool,
    },
}

/// A fact's value as a node of a bench; none for a file, which no bench can hold.
#[must_use]
pub(crate) fn node_of(value: &Value) -> Option<Node> {
    value::of(value)
}

/// The rules of a layer that are a single value each, or that can be taken out of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// `when:`, its condition.
    When,
    /// `key:`.
    Key,
    /// `run:`.
    Run,
    /// `refresh:`.
    Refresh,
    /// `keep.earlier:`.
    Earlier,
    /// `keep.persist:`.
    Persist,
    /// `budget:`, in characters.
    Budget,
}

impl Rule {
    /// Where it stands below its layer: `keep.persist`.
    #[must_use]
    pub fn path(self) -> &'static [&'static str] {
        match self {
            Rule::When => &["when"],
            Rule::Key => &["key"],
            Rule::Run => &["run"],
            Rule::Refresh => &["refresh"],
            Rule::Earlier => &["keep", "earlier"],
            Rule::Persist => &["keep", "persist"],
            Rule::Budget => &["budget"],
        }
    }
}

/// An edit, worked out and not yet written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchEdited {
    /// What is spliced into the file's text.
    pub splices: Vec<Splice>,
    /// What has changed, as a sentence for the status line: `reminder is left out (when: "false")`.
    pub said: String,
    /// The event, for blame: `the toggle of reminder by hand`.
    pub by: Name,
    /// The layer that was changed; none for what belongs to no layer.
    pub layer: Option<Name>,
}

/// The way back from an edit that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchUndo {
    /// The hash of the file as the edit left it.
    after: u128,
    back: Vec<Splice>,
    /// What the edit had said.
    pub said: String,
    /// What the edit was: `the toggle of reminder`.
    pub of: String,
    /// The layer that it had changed.
    pub layer: Option<Name>,
}

/// Works out an edit of the bench in `original`, which `file` names.
///
/// # Errors
///
/// Why it cannot be made without losing something: one sentence, lower case, without a full stop.
pub fn edit(file: &Name, original: &Original, edit: &BenchEdit) -> Result<BenchEdited, String> {
    let root = parse(file, original.text()).map_err(|problems| {
        let problem = problems.first();
        let line = problem.and_then(|p| p.at).map_or_else(String::new, |at| format!("line {}: ", at.line));
        format!("{line}{}", problem.map_or("the bench is broken", |p| &p.message))
    })?;
    let plan = plan(&root, edit)?;
    let done = applied(file, original, &root, &plan.changes);
    let (splices, after) = match (done, plan.changes.as_slice()) {
        // A condition with a comment behind it stays for the comment's sake.
        (Err(_), [Change::Remove { path }]) if matches!(edit, BenchEdit::Toggle(_)) => {
            let holds = Change::Set { path: path.clone(), value: value::plain("true"), before: Vec::new() };
            applied(file, original, &root, &[holds])?
        }
        (done, _) => done?,
    };
    // The file's encoding may not be able to take it.
    original.apply(&splices)?;
    debug_assert_eq!(spliced(original.text(), &splices), after);
    Ok(BenchEdited { splices, said: plan.said, by: plan.by.into(), layer: plan.layer })
}

/// Works out several edits that belong together, one after the other, as one: it is made whole or not at all.
///
/// # Errors
///
/// Why one of them cannot be made.
pub fn edit_all(file: &Name, original: &Original, edits: &[BenchEdit]) -> Result<BenchEdited, String> {
    if let [only] = edits {
        return edit(file, original, only);
    }
    let mut now = original.clone();
    let mut done: Vec<BenchEdited> = Vec::with_capacity(edits.len());
    for change in edits {
        let edited = edit(file, &now, change)?;
        now = Original::of(now.apply(&edited.splices)?)?;
        done.push(edited);
    }
    let (old, new) = diff::differing(original.text(), now.text());
    let first = done.first().filter(|_| original.text() != now.text()).ok_or(plan::ALREADY)?;
    let more = match done.len() - 1 {
        1 => "1 more edit".to_owned(),
        n => format!("{n} more edits"),
    };
    Ok(BenchEdited {
        splices: vec![Splice { range: old, new: now.text()[new].to_owned() }],
        said: done.iter().map(|edited| &*edited.said).collect::<Vec<_>>().join("; "),
        by: format!("{} and {more} by hand", first.by.trim_end_matches(" by hand")).into(),
        layer: first
            .layer
            .clone()
            .filter(|layer| done.iter().all(|edited| edited.layer.as_ref() == Some(layer))),
    })
}

/// A line that an edit takes out of a file or puts into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangedLine {
    /// What follows begins at this place: `line 61`.
    At(String),
    /// It stood there before.
    Old(String),
    /// It stands there afterwards.
    New(String),
}

impl ChangedLine {
    /// `- ` or `+ `; nothing in front of a place.
    #[must_use]
    pub fn sign(&self) -> &'static str {
        match self {
            ChangedLine::At(_) => "",
            ChangedLine::Old(_) => "- ",
            ChangedLine::New(_) => "+ ",
        }
    }

    /// The line, without its end.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            ChangedLine::At(text) | ChangedLine::Old(text) | ChangedLine::New(text) => text,
        }
    }
}

/// The lines that splices change in a text, in order: for each place those that go, then those that come.
#[must_use]
pub fn changed_lines(text: &str, splices: &[Splice]) -> Vec<ChangedLine> {
    lines_between(text, &spliced(text, splices))
}

/// The lines in which two texts differ, in order: for each place those of the old one, then those of the new one.
#[must_use]
pub fn lines_between(old: &str, new: &str) -> Vec<ChangedLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut out = Vec::new();
    for hunk in diff::lines::hunks(&old, &new) {
        out.push(ChangedLine::At(format!("line {}", hunk.old.start + 1)));
        out.extend(old[hunk.old].iter().map(|line| ChangedLine::Old((*line).to_owned())));
        out.extend(new[hunk.new].iter().map(|line| ChangedLine::New((*line).to_owned())));
    }
    out
}

/// Writes an edit that was worked out for `original` and gives the way back.
///
/// # Errors
///
/// When the file was changed meanwhile, or cannot be written.
pub fn write(path: &Path, original: &Original, edited: &BenchEdited) -> Result<BenchUndo, SaveError> {
    let saved = original.save(path, &edited.splices)?;
    Ok(BenchUndo {
        after: saved.hash(),
        back: inverse(original.text(), &edited.splices),
        said: edited.said.clone(),
        of: edited.by.trim_end_matches(" by hand").to_owned(),
        layer: edited.layer.clone(),
    })
}

/// Takes an edit back, if the file still is what the edit left, and gives the way forth again: undone in its turn, it makes
/// the edit once more.
///
/// # Errors
///
/// When the file was changed since, or cannot be written.
pub fn undo(path: &Path, undo: &BenchUndo) -> Result<BenchUndo, String> {
    let now = Original::read(path)?;
    let changed = || "the bench was changed since; this would write over that".to_owned();
    if now.hash() != undo.after {
        return Err(changed());
    }
    match now.save(path, &undo.back) {
        Ok(saved) => Ok(BenchUndo {
            after: saved.hash(),
            back: inverse(now.text(), &undo.back),
            said: undo.said.clone(),
            of: undo.of.clone(),
            layer: undo.layer.clone(),
        }),
        Err(SaveError::Conflict(_)) => Err(changed()),
        Err(SaveError::Refused(reason)) => Err(reason),
    }
}

/// The splices that bring a text back, in the text that the splices gave.
fn inverse(text: &str, splices: &[Splice]) -> Vec<Splice> {
    let mut shift = 0isize;
    splices
        .iter()
        .map(|splice| {
            let start = splice.range.start.saturating_add_signed(shift);
            shift += splice.new.len() as isize - splice.range.len() as isize;
            Splice { range: start..start + splice.new.len(), new: text[splice.range.clone()].to_owned() }
        })
        .collect()
}

/// Makes the changes one after the other, each checked against the tree that it means.
fn applied(
    file: &Name,
    original: &Original,
    root: &Arc<Node>,
    changes: &[Change<'_>],
) -> Result<(Vec<Splice>, String), Refusal> {
    let mut text = original.text().to_string();
    let mut meant = root.clone();
    let mut splices = Vec::new();
    for change in changes {
        let tree = Tree::read(&text).ok_or("the bench is broken")?;
        let mut comments: Vec<&str> = tree.comments.iter().map(|at| &text[at.clone()]).collect();
        splices = change.splices(&tree, original.line_end())?;
        change.apply(&mut meant)?;
        let after = spliced(&text, &splices);
        let refused = |why: &str| Err(format!("it cannot be made without a risk: {why}"));
        let Ok(read) = parse(file, &after) else { return refused("the result could not be read") };
        if !value::same(&read, &meant) {
            return refused("the result would mean something else");
        }
        let Some(new) = Tree::read(&after) else { return refused("the result could not be read") };
        let mut kept: Vec<&str> = new.comments.iter().map(|at| &after[at.clone()]).collect();
        comments.sort_unstable();
        kept.sort_unstable();
        if comments != kept {
            return refused("a comment would be lost");
        }
        text = after;
    }
    if changes.len() > 1 {
        let (old, new) = diff::differing(original.text(), &text);
        splices = vec![Splice { range: old, new: text[new].to_owned() }];
    }
    splices.retain(|splice| original.text()[splice.range.clone()] != splice.new);
    if splices.is_empty() {
        return Err(plan::ALREADY.to_owned());
    }
    Ok((splices, text))
}

fn spliced(text: &str, splices: &[Splice]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for Splice { range: Range { start, end }, new } in splices {
        out.push_str(&text[at..*start]);
        out.push_str(new);
        at = *end;
    }
    out.push_str(&text[at..]);
    out
}
