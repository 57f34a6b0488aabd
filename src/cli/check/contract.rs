//! Contracts: read, checked against runs, and rewritten where that is asked for.

use std::fs;
use std::path::PathBuf;

use crate::cli::open::Bench;
use crate::cli::output::{Failure, Result};
use crate::cli::report::sha256;
use crate::core::contract::{Breach, Contract, MayChange, Promise, Stable, Walk, role};
use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::Name;
use crate::core::run::{Answer, Player, Requests};
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
    /// What the contract named and the bench does not have.
    pub(super) gone: Vec<Diagnostic>,
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

    /// What it names and the bench does not have.
    pub(super) fn strangers(&self, bench: &crate::core::bench::Bench) -> Vec<Diagnostic> {
        contract::strangers(&self.name, &self.text, bench)
    }

    /// What a run breaks.
    pub(super) fn breaches(&self, run: Option<&Name>, player: &Player) -> Vec<Breach> {
        let bench = player.session().bench();
        let (mut found, firsts) = walked(&self.contract, run, player);
        for request in &firsts {
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
            for breach in walked(&nothing, run.as_ref(), player).0 {
                let known = self.contract.allows(&breach.part, run.as_deref());
                let may = match next.may_change.iter_mut().find(|may| may.is_of(&breach.part)) {
                    Some(may) => may,
                    None => {
                        let old = self.contract.may_change.iter().find(|may| may.is_of(&breach.part));
                        next.may_change.push(MayChange {
                            part: old.map_or_else(|| breach.part.clone(), |may| may.part.clone()),
                            runs: Vec::new(),
                            why: old.and_then(|may| may.why.clone()),
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
                for request in &walked(&nothing, run.as_ref(), player).1 {
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
        let gone = runs.first().map(|(_, player)| self.strangers(player.session().bench()));
        Ok(Accepted { path: self.path.clone(), taken, gone: gone.unwrap_or_default() })
    }
}

/// What the requests of a run that arrived break, and the first of each conversation.
pub(super) fn walked(
    contract: &Contract,
    run: Option<&Name>,
    player: &Player,
) -> (Vec<Breach>, Vec<Request>) {
    let session = player.session();
    let mut walk = Walk::new(contract, session.bench(), run);
    let mut requests = Requests::default();
    for call in 1..=session.next_call().0 {
        let Some(request) = requests.get(session, CallNo(call)) else { continue };
        let record = session.calls().get(call as usize - 1);
        if !record.is_some_and(|record| matches!(record.answer, Some(Answer::Failed(_)))) {
            walk.request(request);
        }
    }
    walk.finish()
}
