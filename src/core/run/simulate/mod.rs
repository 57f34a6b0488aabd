//! What tools do in a run: the script says it, or the bench's `simulate:` does.

mod mediator;
mod search;

use std::sync::Arc;

use super::facts::resolve;
use super::input::ToolCall;
use super::record::Searched;
use super::session::Session;
use crate::core::bench::ToolEffect;
use crate::core::fact::{FactKey, FilePath, Lookup, Name, Progress, Value};
use crate::core::source::Facts;
use crate::core::text::{Made, Source};
use crate::core::wire::CallNo;

/// What a tool call came to.
pub(super) struct Outcome {
    pub result: Arc<str>,
    pub made: Made,
    pub set: Option<(Name, Value)>,
    pub write: Option<(FilePath, Arc<str>)>,
    pub cwd: Arc<str>,
    /// What the tool's program writes into its log.
    pub lines: Vec<Arc<str>>,
    /// What it searched.
    pub searched: Option<Searched>,
}

impl Outcome {
    /// Our own words, which change nothing.
    pub(super) fn plain(result: String, cwd: &Arc<str>) -> Outcome {
        Outcome {
            result: result.into(),
            made: Made::Literal,
            set: None,
            write: None,
            cwd: cwd.clone(),
            lines: Vec::new(),
            searched: None,
        }
    }
}

impl Session {
    pub(super) fn simulate(&self, call: &ToolCall, _at: CallNo) -> Progress<Outcome> {
        let view = self.view(self.current());
        let text_of = |name: &str| match view.look(&FactKey::named(name)) {
            Lookup::Ready(value, ..) => Progress::Done(Arc::<str>::from(value.to_string())),
            Lookup::Unknown => Progress::Needs(vec![FactKey::Environment(
                if name == "home" { "home" } else { "workspace" }.into(),
            )]),
            _ => Progress::Done("/".into()),
        };
        let cwd = match text_of("cwd") {
            Progress::Done(cwd) => cwd,
            Progress::Needs(needs) => return Progress::Needs(needs),
        };
        let home = match text_of("home") {
            Progress::Done(home) => home,
            Progress::Needs(needs) => return Progress::Needs(needs),
        };
        let plain = |result: String| Outcome::plain(result, &cwd);
        let argument = |name: &Name| call.args.get(name).map(|value| Arc::<str>::from(value.to_string()));
        let mut outcome = match self.bench.simulate.get(&call.tool) {
            None => plain(String::new()),
            Some(ToolEffect::Search(effect)) => match self.search(call, effect, &cwd) {
                Progress::Done(outcome) => outcome,
                Progress::Needs(needs) => return Progress::Needs(needs),
            },
            Some(ToolEffect::Set { fact, from }) => match argument(from) {
                None => plain(format!("error: no argument `{from}`")),
                Some(value) if &**fact == "cwd" => {
                    let path = resolve(&cwd, &value, &home);
                    let mut outcome = plain(format!("Changed directory to {path}"));
                    outcome.set = Some((fact.clone(), Value::text(path)));
                    outcome
                }
                Some(value) => {
                    let mut outcome = plain(format!("{fact} = {value}"));
                    outcome.set = Some((fact.clone(), Value::Text(value)));
                    outcome
                }
            },
            Some(ToolEffect::File { path }) => match argument(path) {
                None => plain(format!("error: no argument `{path}`")),
                Some(path) => {
                    let shown = resolve(&cwd, &path, &home);
                    match self.file_at(&shown) {
                        None => plain(format!("error: {shown} is outside of the workspace")),
                        Some(file) => {
                            let key = FactKey::File(file);
                            match view.look(&key) {
                                Lookup::Unknown if call.result.is_none() => {
                                    return Progress::Needs(vec![key]);
                                }
                                Lookup::Ready(Value::File(file), rev, _) => Outcome {
                                    made: Made::Verbatim {
                                        source: Source::with_rev(
                                            file.path.to_string(),
                                            file.text.clone(),
                                            rev,
                                        ),
                                        at: 0,
                                    },
                                    result: file.text.clone(),
                                    ..plain(String::new())
                                },
                                Lookup::Failed(reason, _) => plain(format!("error: {shown}: {reason}")),
                                _ => plain(format!("error: no such file: {shown}")),
                            }
                        }
                    }
                }
            },
            Some(ToolEffect::Write { path }) => match argument(path) {
                None => plain(format!("error: no argument `{path}`")),
                Some(path) => {
                    let shown = resolve(&cwd, &path, &home);
                    let text: Arc<str> = argument(&"text".into()).unwrap_or_default();
                    match self.file_at(&shown) {
                        None => plain(format!("error: {shown} is outside of the workspace")),
                        Some(file) => {
                            let mut outcome =
                                plain(format!("Wrote {} characters to {shown}", text.chars().count()));
                            outcome.write = Some((file, text));
                            outcome
                        }
                    }
                }
            },
        };
        if let Some(result) = &call.result {
            // The script has the last word on what the model sees; what the tool did happened all the same.
            outcome.result = result.clone();
            outcome.made = Made::Literal;
        }
        Progress::Done(outcome)
    }
}
