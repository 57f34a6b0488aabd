//! The rows of whatever list is open above the screen.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::{compose, form};
use crate::app::action::{self, ACTIONS, Action, ActionInfo, Scope};
use crate::app::cells;
use crate::app::compose::Part;
use crate::app::copy::{self, Copyable};
use crate::app::diff::With;
use crate::app::folders;
use crate::app::form::{Field, Subject};
use crate::app::state::{Overlay, OverlayKind, Pane, State};
use crate::core::diff::lines::hunks;
use crate::core::fact::{Name, Value};
use crate::io::edit::bench::{BenchEdit, ChangedLine};

/// What taking a row means.
#[derive(Clone, Debug, PartialEq)]
pub enum Pick {
    /// Nothing: a heading.
    Nothing,
    /// Do this.
    Action(Action),
    /// Choose this model.
    Model(Name),
    /// Choose this run.
    Run(Name),
    /// Draw with this theme.
    Theme(Name),
    /// Compare the shown call with this.
    With(With),
    /// Switch this variant on or off.
    Variant(Name),
    /// Type this instead.
    Folder(String),
    /// Copy this.
    Copy(Copyable),
    /// Answer a question about a text.
    Answer(Answer),
    /// Offer the values of a field, or a line to type one.
    Field(Field),
    /// Open another form.
    Form(Subject),
    /// Make this edit of the bench file.
    Edit(Box<BenchEdit>),
    /// Write the way whose changes are shown into the bench file.
    Way(Vec<Name>),
    /// Put the overlay whose lines are shown on disk, or take it out again.
    SwitchOverlay,
    /// Reply to the request that waits with this.
    Reply(ReplyWith),
    /// Change this part of the reply that is composed.
    Part(Part),
    /// Give the argument of a call, by its number from 0, this value.
    Value(usize, Name, Value),
    /// Save the run over the one that has its name.
    SaveOver(Name),
    /// Nothing: a line of text.
    Line,
}

/// What the model can do with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyWith {
    /// Answer with a text.
    Answer,
    /// Call this tool.
    Tool(Name),
    /// Nothing: the call fails.
    Failure,
}

/// The answers to questions: about a text that is edited, and about programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Save it, then leave.
    SaveAndLeave,
    /// Leave; what was not saved is gone.
    LeaveUnsaved,
    /// Go on editing.
    Stay,
    /// Keep my text.
    KeepMine,
    /// Take what somebody else wrote.
    TakeTheirs,
    /// Show where the two differ.
    ShowBoth,
    /// Go on with the text that was not saved the last time.
    TakeKept,
    /// Show where it and the file differ.
    ShowKept,
    /// Give it up.
    DropKept,
    /// Run the programs of the bench.
    RunPrograms,
    /// Do not run them.
    NotNow,
}

/// A row of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListRow {
    /// What stands in front: keys, or a sign for what is on.
    pub key: String,
    /// What it is.
    pub title: String,
    /// What there is to know about it.
    pub about: String,
    /// What taking it means.
    pub pick: Pick,
}

impl ListRow {
    pub(super) fn new(
        key: impl Into<String>,
        title: impl Into<String>,
        about: impl Into<String>,
        pick: Pick,
    ) -> ListRow {
        ListRow { key: key.into(), title: title.into(), about: about.into(), pick }
    }

    /// True for a heading, which cannot be taken.
    #[must_use]
    pub fn is_heading(&self) -> bool {
        self.pick == Pick::Nothing
    }
}

/// The rows of the open list, filtered by what is typed into it; empty while no list is open.
#[must_use]
pub fn list_rows(state: &State) -> Vec<ListRow> {
    let Some(overlay) = state.overlays.last() else { return Vec::new() };
    let choices = &state.snapshot.choices;
    let typed = overlay.editor.text();
    match overlay.kind {
        OverlayKind::Help => help(state, typed),
        OverlayKind::Palette => {
            let rows =
                ACTIONS.iter().filter(|info| runs_from_list(info) && action::useful(state, info.action));
            filter(typed, rows.map(|info| action_row(state, info)).collect())
        }
        OverlayKind::Models => {
            // From a form, what counts is what the file says.
            let file = overlay.subject.as_ref().and(state.snapshot.sheet.as_ref());
            let row = |model: &crate::app::snapshot::ModelChoice| {
                let on = file.map_or(model.on, |sheet| sheet.model.text.as_deref() == Some(&*model.id));
                let pick = match file {
                    Some(_) => Pick::Edit(Box::new(BenchEdit::Model(model.id.clone()))),
                    None => Pick::Model(model.id.clone()),
                };
                ListRow::new(sign(on), &*model.id, &*model.about, pick)
            };
            filter(typed, choices.models.iter().map(row).collect())
        }
        OverlayKind::Runs => choices
            .runs
            .iter()
            .map(|run| ListRow::new(sign(run.on), &*run.name, &*run.about, Pick::Run(run.name.clone())))
            .collect(),
        OverlayKind::Themes => state
            .themes
            .iter()
            .map(|theme| {
                let on = sign(theme.name == state.theme);
                ListRow::new(on, &*theme.name, &*theme.about, Pick::Theme(theme.name.clone()))
            })
            .collect(),
        OverlayKind::Sides => {
            let all = state.snapshot.diff.iter().flat_map(|view| &view.choices);
            all.map(|choice| {
                ListRow::new(sign(choice.on), &*choice.title, &*choice.about, Pick::With(choice.with))
            })
            .collect()
        }
        OverlayKind::Variants => choices
            .variants
            .iter()
            .map(|variant| {
                let label =
                    state.snapshot.why.ways.rows.iter().find(|way| *way.variants == [variant.name.clone()]);
                let about = label.map_or("", |way| &way.label);
                let key = if variant.on { "[x]" } else { "[ ]" };
                ListRow::new(key, &*variant.name, about, Pick::Variant(variant.name.clone()))
            })
            .collect(),
        OverlayKind::Views => {
            let useful = action::VIEWS.iter().copied().filter(|&view| action::useful(state, view));
            useful.map(|view| action_row(state, action::info(view))).collect()
        }
        OverlayKind::Copy => copy::choices(state)
            .into_iter()
            .map(|(which, title, about)| ListRow::new("", title, about, Pick::Copy(which)))
            .collect(),
        OverlayKind::Cwd => {
            let stem = overlay.stem.as_deref().unwrap_or(typed);
            folders::complete(stem, &overlay.base, &choices.folders)
                .into_iter()
                .map(|folder| ListRow::new("", folder.clone(), "", Pick::Folder(folder)))
                .collect()
        }
        OverlayKind::Search | OverlayKind::Value | OverlayKind::Line => Vec::new(),
        OverlayKind::Reply => filter(typed, compose::reply(state)),
        OverlayKind::Calls => compose::calls(state),
        OverlayKind::Values => compose::values(state, overlay),
        OverlayKind::SaveOver => compose::save_over(state),
        OverlayKind::Form => form::form(&state.snapshot, overlay.subject.as_ref().unwrap_or(&Subject::Bench)),
        OverlayKind::Choice => match &overlay.subject {
            Some(Subject::Field(field)) => form::choices(&state.snapshot, field),
            _ => Vec::new(),
        },
        OverlayKind::Unsaved => answers(&[
            ("Save and leave", "Writes the lines that were changed.", Answer::SaveAndLeave),
            ("Leave without saving", "What was typed is gone.", Answer::LeaveUnsaved),
            ("Stay", "Goes on editing.", Answer::Stay),
        ]),
        OverlayKind::Conflict => answers(&[
            ("Show both", "Shows the lines in which the two differ.", Answer::ShowBoth),
            ("Keep mine", "Goes on with my text; saving writes it over theirs.", Answer::KeepMine),
            ("Take theirs", "Takes the file as it is now; undo brings mine back.", Answer::TakeTheirs),
        ]),
        OverlayKind::Programs => programs(state),
        OverlayKind::Way => way(state),
        OverlayKind::SwitchOverlay => switch_overlay(state),
        OverlayKind::Both => {
            let Some(editor) = &state.editor else { return Vec::new() };
            let Some(theirs) = &editor.theirs else { return Vec::new() };
            differing(
                state,
                &theirs.lines().collect::<Vec<_>>(),
                &editor.document.lines().collect::<Vec<_>>(),
            )
        }
        OverlayKind::KeptBoth => {
            let Some(editor) = &state.editor else { return Vec::new() };
            let Some(kept) = &editor.kept else { return Vec::new() };
            let disk: Vec<&str> = editor.base.lines().collect();
            differing(state, &disk, &kept.text.split('\n').collect::<Vec<_>>())
        }
        OverlayKind::Kept => {
            let kept = state.editor.as_ref().and_then(|editor| editor.kept.as_ref());
            let take = if kept.is_some_and(|kept| kept.same_base) {
                "Goes on with it; nothing is written before you save."
            } else {
                "Goes on with it. The file was changed since: saving writes it over that."
            };
            answers(&[
                ("Take it up", take, Answer::TakeKept),
                ("Show both", "Shows the lines in which it and the file differ.", Answer::ShowKept),
                ("Give it up", "Goes on with what the file holds; the text is gone.", Answer::DropKept),
            ])
        }
    }
}

/// What the keys do in a list, in its lower border and in the row of keys.
#[must_use]
pub fn list_keys(overlay: &Overlay) -> Vec<(Action, &'static str)> {
    let enter = |does| (Action::Accept, does);
    let closes = |does| (Action::UpLevel, does);
    match overlay.kind {
        OverlayKind::Form => vec![
            (Action::ChangeField, "changes"),
            (Action::TakeOut, "takes out"),
            (Action::UndoBench, "undoes"),
            closes("closes"),
        ],
        OverlayKind::Calls => vec![
            (Action::ChangePart, "changes"),
            (Action::TakePartOut, "takes out"),
            (Action::SendReply, "sends"),
            closes("closes"),
        ],
        OverlayKind::Help | OverlayKind::Palette => vec![enter("does it"), closes("closes")],
        OverlayKind::Copy => vec![(Action::Copy, "copies"), closes("closes")],
        OverlayKind::Variants => vec![(Action::Toggle, "on or off"), closes("closes")],
        OverlayKind::Views => vec![enter("opens"), closes("closes")],
        OverlayKind::Models if overlay.subject.is_none() => {
            vec![enter("takes"), (Action::WriteModel, "into the bench"), closes("closes")]
        }
        OverlayKind::Themes => vec![enter("takes"), closes("takes the old one back")],
        // Nothing is decided where the two are read.
        OverlayKind::Both | OverlayKind::KeptBoth => vec![enter("goes back to the choice")],
        OverlayKind::Conflict => vec![enter("does it"), closes("decides later")],
        OverlayKind::Unsaved => vec![enter("does it"), closes("stays")],
        OverlayKind::Kept => vec![enter("does it"), closes("leaves it kept")],
        _ => vec![enter("takes"), closes("closes")],
    }
}

/// The title of what is open.
#[must_use]
pub fn list_title(state: &State, overlay: &Overlay) -> String {
    match &overlay.subject {
        None if matches!(overlay.kind, OverlayKind::Reply | OverlayKind::Calls) => {
            let call = state.snapshot.hand.as_ref().map_or(0, |hand| hand.call.0);
            format!("Call {call}: {}", overlay.kind.title().to_lowercase())
        }
        Some(subject) => form::title(&state.snapshot, subject),
        None => overlay.kind.title().to_owned(),
    }
}

const NOT_NOW: &str = "Not now: what they would print stays unknown; T asks again";

/// The programs of the bench, each as it would run, and the question.
fn programs(state: &State) -> Vec<ListRow> {
    let Some(programs) = &state.snapshot.programs else { return Vec::new() };
    let mut rows =
        vec![ListRow::new("", format!("the bench in {} would run", programs.place), "", Pick::Nothing)];
    // Whole, however long: what is cut away could be what matters.
    let wide = state.metrics.panes.iter().map(|(cells, _)| usize::from(*cells)).max().unwrap_or(0);
    let cells = if wide == 0 { 60 } else { wide.clamp(16, 60) };
    for program in &programs.commands {
        let text = format!("{}, {}", program.command, program.limits);
        rows.extend(
            cells::wrap(&text, cells).into_iter().map(|(range, hang)| {
                ListRow::new("", format!("{:hang$}{}", "", &text[range]), "", Pick::Line)
            }),
        );
    }
    rows.push(ListRow::new("", "without a shell, in its workspace", "", Pick::Nothing));
    rows.push(ListRow::new("", NOT_NOW, "", Pick::Answer(Answer::NotNow)));
    rows.push(ListRow::new(
        "",
        "Run them, now and whenever this bench is opened here",
        "",
        Pick::Answer(Answer::RunPrograms),
    ));
    rows
}

/// What a way changes in the bench file, and the question.
fn way(state: &State) -> Vec<ListRow> {
    let preview = state.snapshot.data.compare().and_then(|view| view.preview.as_ref());
    let Some(preview) = preview else { return vec![ListRow::new("", "...", "", Pick::Line)] };
    let ask = (format!("Write this into {}", preview.file), Pick::Way(preview.names.clone()));
    to_be_written(state, ask, preview.problem.as_deref(), &preview.lines)
}

/// What putting the overlay on disk would write, or taking it out, and the question.
fn switch_overlay(state: &State) -> Vec<ListRow> {
    let plan = state.snapshot.data.overlay().and_then(|life| life.plan.as_ref());
    let Some(plan) = plan else { return vec![ListRow::new("", "...", "", Pick::Line)] };
    let file = &plan.file;
    let question = match plan.word {
        "created" => format!("Create {file}, and keep it in step with its sources"),
        "removed" => format!("Remove {file}"),
        "unchanged" => format!("{file} says this already: keep it in step with its sources"),
        _ => format!("Write this into {file}"),
    };
    to_be_written(state, (question, Pick::SwitchOverlay), plan.problem.as_deref(), &plan.lines)
}

/// Whether lines shall be written, and the lines; or why they cannot be.
fn to_be_written(
    state: &State,
    (question, yes): (String, Pick),
    problem: Option<&str>,
    lines: &[ChangedLine],
) -> Vec<ListRow> {
    let line = |sign: &str, text: &str| ListRow::new(sign, text, "", Pick::Line);
    // What is cut away could be what is changed.
    let cells = super::page::page_cells(state).saturating_sub(8).max(24);
    let wrapped = |sign: &str, text: &str| -> Vec<ListRow> {
        let pieces = cells::wrap(text, cells).into_iter();
        pieces.map(|(range, hang)| line(sign, &format!("{:hang$}{}", "", &text[range]))).collect()
    };
    let no = ListRow::new("", "Not now", "", Pick::Answer(Answer::NotNow));
    if let Some(problem) = problem {
        return wrapped("!", problem).into_iter().chain([no]).collect();
    }
    let mut rows = vec![ListRow::new("", question, "", yes), no];
    for changed in lines {
        match changed {
            ChangedLine::At(place) => rows.push(ListRow::new("", place, "", Pick::Nothing)),
            ChangedLine::Old(text) => rows.extend(wrapped("-", text)),
            ChangedLine::New(text) => rows.extend(wrapped("+", text)),
        }
    }
    rows
}

fn answers(answers: &[(&str, &str, Answer)]) -> Vec<ListRow> {
    answers
        .iter()
        .map(|(title, about, answer)| ListRow::new("", *title, *about, Pick::Answer(*answer)))
        .collect()
}

/// How many equal lines are shown around each difference.
const AROUND: usize = 2;

/// Where two texts differ: `-` the one, `+` the other.
fn differing(state: &State, old: &[&str], mine: &[&str]) -> Vec<ListRow> {
    // As wide as the text in the editor, so that what differs at the end of a line is not cut away.
    let cells = match state.metrics.editor.0 {
        0 => 76,
        cells => usize::from(cells).max(20),
    };
    let line = |sign: &str, text: &str| -> Vec<ListRow> {
        let pieces = cells::wrap(text, cells)
            .into_iter()
            .map(|(range, hang)| ListRow::new(sign, format!("{:hang$}{}", "", &text[range]), "", Pick::Line));
        pieces.collect()
    };
    let mut rows = Vec::new();
    // The first line that was not shown yet.
    let mut next = 0;
    let mut found = hunks(old, mine).into_iter().peekable();
    while let Some(hunk) = found.next() {
        let from = hunk.new.start.saturating_sub(AROUND).max(next);
        if rows.is_empty() || from > next {
            rows.push(ListRow::new("", format!("line {}", from + 1), "", Pick::Nothing));
        }
        rows.extend(mine[from..hunk.new.start].iter().flat_map(|text| line(" ", text)));
        rows.extend(old[hunk.old.clone()].iter().flat_map(|text| line("-", text)));
        rows.extend(mine[hunk.new.clone()].iter().flat_map(|text| line("+", text)));
        let stop = found.peek().map_or(mine.len(), |hunk| hunk.new.start);
        next = (hunk.new.end + AROUND).min(stop);
        rows.extend(mine[hunk.new.end..next].iter().flat_map(|text| line(" ", text)));
    }
    if rows.is_empty() {
        rows = line(
            "",
            "they do not differ in a line, only in line ends or in what stands in front of the text",
        );
    }
    rows
}

pub(super) fn sign(on: bool) -> &'static str {
    if on { ">" } else { " " }
}

/// True for actions that make sense when chosen by name: not moving, not what belongs to a list or an input.
fn runs_from_list(info: &ActionInfo) -> bool {
    matches!(info.scope, Scope::Screen | Scope::Everywhere | Scope::Pane(_))
        && !matches!(
            info.action,
            Action::Palette
                | Action::UpLevel
                | Action::Cancel
                | Action::Up
                | Action::Down
                | Action::Top
                | Action::Bottom
                | Action::PageUp
                | Action::PageDown
                | Action::HalfUp
                | Action::HalfDown
        )
}

fn action_row(state: &State, info: &ActionInfo) -> ListRow {
    let about = match info.scope {
        Scope::Pane(pane) if pane != state.focus => format!("{}: {}", pane.title(), info.about),
        _ => info.about.to_owned(),
    };
    ListRow::new(state.keymap.shown_keys(info.action), info.title, about, Pick::Action(info.action))
}

/// Every key, by scope: the focused pane first, then the screen, then what is open only at times.
fn help(state: &State, typed: &str) -> Vec<ListRow> {
    let mut scopes = match state.pane() {
        Some(pane) => vec![Scope::Pane(pane)],
        None => vec![Scope::View(state.view), Scope::Views],
    };
    scopes.extend([Scope::Screen, Scope::Everywhere]);
    scopes.extend(Pane::ALL.into_iter().filter(|&pane| state.pane() != Some(pane)).map(Scope::Pane));
    if state.pane().is_some() {
        scopes.push(Scope::Views);
    }
    scopes.extend([
        Scope::Editor,
        Scope::List,
        Scope::Models,
        Scope::Variants,
        Scope::Form,
        Scope::Value,
        Scope::Calls,
        Scope::Line,
        Scope::Cwd,
        Scope::Search,
    ]);
    let mut rows = Vec::new();
    for scope in scopes {
        let own = ACTIONS.iter().filter(|info| info.scope == scope && action::useful(state, info.action));
        let own = filter(typed, own.map(|info| action_row(state, info)).collect());
        if !own.is_empty() {
            rows.push(ListRow::new("", scope.title(), "", Pick::Nothing));
            rows.extend(own);
        }
    }
    rows
}

/// The rows that fit what is typed, the best first; all of them, in order, while nothing is typed.
fn filter(typed: &str, rows: Vec<ListRow>) -> Vec<ListRow> {
    if typed.trim().is_empty() {
        return rows;
    }
    let pattern = Pattern::parse(typed, CaseMatching::Smart, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut buffer = Vec::new();
    let mut scored: Vec<(u32, ListRow)> = rows
        .into_iter()
        .filter_map(|row| {
            // In a title the letters may stand apart; in a sentence they would be found nearly always.
            let title = pattern.score(Utf32Str::new(&row.title, &mut buffer), &mut matcher);
            let about = row.key == typed || row.about.to_lowercase().contains(&typed.to_lowercase());
            let score = title.map(|score| score + 1).or(about.then_some(0))?;
            Some((score, row))
        })
        .collect();
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, row)| row).collect()
}
