//! Contracts: read, checked against runs, and rewritten where that is asked for.

use std::fs;
use std::path::PathBuf;

use crate::cli::open::Bench;
use crate::cli::output::{Failure, Result};
use crate::cli::report::sha256;
use crate::core::contract::{Breach, Contract, MayChange, Promise, Stable, role};
use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::Name;
use crate::core::run::Player;
use crate::core::wire::{CallNo, Request};
use crate::io::syntax::contract;

/// A contract beside a bench.
pub(super) struct Held {
    path: PathBuf,
    /// As messages name it.
    name: Name,
    text: String,
    pub(super) contract: Contract,
    /// False where there is no such file yet.
    pub(super) exists: bool,
}

/// What became of a contract.
pub(super) struct Accepted {
    /// The file that was written.
    pub(super) path: PathBuf,
    /// What is promised no longer.
    pub(super) taken: Vec<Breach>,
}

impl Held {
    /// The contract of a bench; none for a bench that has no file of its own.
    pub(super) fn of(bench: &Bench) -> Result<Option<Held>> {
        let Some(path) = bench.contract_path() else { return Ok(None) };
        let name: Name = path.file_name().map_or_else(|| "".into(), |name| name.to_string_lossy().into());
        let text = match fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                let reason = crate::io::load::reason(&error);
                let problem = Diagnostic::error(format!("the contract cannot be read: {reason}"));
                return Err(Failure::Diagnostics(vec![problem.in_file(name)]));
            }
        };
        let contract = match &text {
            Some(text) => contract::read(&name, text).map_err(Failure::Diagnostics)?,
            None => Contract::default(),
        };
        Ok(Some(Held { path, name, exists: text.is_some(), text: text.unwrap_or_default(), contract }))
    }

    /// What a run breaks.
    pub(super) fn breaches(&self, run: Option<&Name>, player: &Player) -> Vec<Breach> {
        let (bench, requests) = (player.session().bench(), requests(player));
        let mut found = self.contract.relations(bench, run, &requests);
        for request in firsts(&requests) {
            found.extend(self.contract.text(&self.name, &self.text, run, bench, request));
        }
        found
    }

    /// Takes what the runs do as what is promised from now on. Reasons that stand in the contract are kept, and what no
    /// run breaks any more is promised again. With `hashes`, the text of what stays is promised, too; so it is where the
    /// contract has it already.
    pub(super) fn accept(&self, runs: &[(Option<Name>, Player)], hashes: bool) -> Result<Accepted> {
        let nothing = Contract::default();
        let mut next = Contract::default();
        let mut taken = Vec::new();
        for (run, player) in runs {
            let requests = requests(player);
            for breach in nothing.relations(player.session().bench(), run.as_ref(), &requests) {
                let known = self.contract.allows(&breach.part, run.as_deref());
                let may = match next.may_change.iter_mut().find(|may| may.part == breach.part) {
                    Some(may) => may,
                    None => {
                        let why = self.contract.may_change.iter().find(|may| may.part == breach.part);
                        next.may_change.push(MayChange {
                            part: breach.part.clone(),
                            runs: Vec::new(),
                            why: why.and_then(|may| may.why.clone()),
                            at: Position::START,
                        });
                        next.may_change.last_mut().unwrap_or_else(|| unreachable!("it was just added"))
                    }
                };
                may.runs
                    .extend(run.iter().filter(|run| !may.runs.contains(run)).cloned().collect::<Vec<_>>());
                if !known {
                    taken.push(breach);
                }
            }
        }
        // What was declared for all runs stays so.
        for may in &mut next.may_change {
            let before =
                self.contract.may_change.iter().any(|old| old.part == may.part && old.runs.is_empty());
            if before {
                may.runs.clear();
            }
        }
        if hashes || !self.contract.stable.is_empty() {
            for (run, player) in runs {
                let bench = player.session().bench();
                let requests = requests(player);
                for request in firsts(&requests) {
                    let role = role(bench, &request.agent);
                    if next.stable.contains_key(&role) {
                        continue;
                    }
                    let text = next.stable_text(request);
                    if let Some(mut breach) =
                        self.contract.text(&self.name, &self.text, run.as_ref(), bench, request)
                    {
                        breach.new.clone_from(&text);
                        taken.retain(|other: &Breach| {
                            other.promise != Promise::Text || other.part != breach.part
                        });
                        taken.push(breach);
                    }
                    let stable =
                        Stable { sha256: sha256(&text).into(), text: text.into(), at: Position::START };
                    next.stable.insert(role, stable);
                }
            }
        }
        let bench = self.path.with_file_name(self.name.replace(".contract.yaml", ".yaml"));
        let bench = bench.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        fs::write(&self.path, contract::written(&next, &bench)).map_err(|error| {
            let reason = crate::io::load::reason(&error);
            Failure::message(format!("{} cannot be written: {reason}", self.path.display()))
        })?;
        Ok(Accepted { path: self.path.clone(), taken })
    }
}

/// The requests that were or would be sent.
fn requests(player: &Player) -> Vec<Request> {
    let session = player.session();
    let failed = |call: u32| {
        let record = session.calls().get(call as usize - 1);
        record.is_some_and(|record| matches!(record.answer, Some(crate::core::run::Answer::Failed(_))))
    };
    (1..=session.next_call().0)
        .filter(|call| !failed(*call))
        .filter_map(|call| session.request(CallNo(call)))
        .collect()
}

/// The first request of each conversation.
fn firsts(requests: &[Request]) -> impl Iterator<Item = &Request> {
    requests
        .iter()
        .enumerate()
        .filter(|(index, request)| !requests[..*index].iter().any(|before| before.agent == request.agent))
        .map(|(_, request)| request)
}
