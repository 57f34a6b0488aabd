//! A bench as it was at a revision of git, played to the same call.

use std::sync::Arc;

use crate::cli::args::BenchArgs;
use crate::cli::open::{Bench as Opened, adjust, no_such_call, refused};
use crate::cli::output::{Failure, Result};
use crate::core::bench::Bench;
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{Base, FactKey, FilePath, Found, Name, Value};
use crate::core::run::Player;
use crate::core::wire::{CallNo, Request};
use crate::io::revision::{PastRoots, Revision};

/// The beginning of a commit's hash, as long as people write it.
pub(super) fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// Makes both sides of the comparison happen at the same time, where the bench does not say when.
pub(super) fn stand_still(now: &mut Opened, args: &mut BenchArgs) {
    if args.play.now.is_some() || now.bench.workspace.clock.is_some() {
        return;
    }
    let time = now.file.loader().load(&FactKey::Environment("now".into()));
    if let Found::Value(Value::Text(time)) = time {
        args.play.now = Some(time.to_string());
        adjust(Arc::make_mut(&mut now.bench), args);
    }
}

/// The bench at a revision, and what a call of it was sent.
pub(super) fn bench(
    now: &mut Opened,
    revision: &mut Revision,
    args: &BenchArgs,
    call: u32,
) -> Result<(Arc<Bench>, Request)> {
    let commit = short(revision.commit()).to_owned();
    let then =
        |list: Vec<Diagnostic>| Failure::Diagnostics(list.into_iter().map(|p| at(p, &commit)).collect());
    let folder = now.file.folder().to_owned();
    let Some(from) = revision.path(&folder) else {
        let problem = format!("`{}` is not in the repository that holds it", folder.display());
        return Err(Failure::Diagnostics(vec![Diagnostic::error(problem)]));
    };
    let file = now.file.path().map(|(_, key)| FactKey::File(key));
    let plain = file.is_none();
    // The folders of a project without a bench are that folder; a bench says where its workspace was.
    let mut roots = PastRoots { bench: Some(from.clone()), workspace: Some(from.clone()), home: None };
    if plain {
        // A bench that is gone is no project folder without one: whoever guards a prompt has to hear of it.
        let gone = FactKey::File(FilePath::new(Base::Bench, "bench.yaml"));
        if matches!(revision.past(roots.clone(), now.file.loader()).found(&gone), Found::Value(_)) {
            let problem =
                format!("`{}` held a bench.yaml at {commit}, and there is none now", folder.display());
            let hint = "its whole prompt is gone; if it has moved, name its new file";
            return Err(Failure::Diagnostics(vec![Diagnostic::error(problem).hint(hint)]));
        }
        roots.bench = None;
    }
    let mut past = revision.past(roots.clone(), now.file.loader());
    let found = file.map_or(Found::Absent, |key| past.found(&key));
    let document = now.file.document_of(found).map_err(then)?;
    let variants: Vec<Name> = args.variants.iter().map(|name| Name::from(&**name)).collect();
    let mut past = revision.past(roots.clone(), now.file.loader());
    let (mut bench, _) = document.bench(&variants, &mut past).map_err(then)?;
    adjust(&mut bench, args);
    if !plain {
        let path = bench.workspace.path.clone();
        roots.workspace = past.folder(&from, &path);
        if roots.workspace.is_none() {
            past.note(format!("the workspace {path} is not in the repository: it is read as it is now"));
        }
        if let Some(home) = bench.workspace.home.clone() {
            roots.home = past.folder(&from, &home);
        }
        past.move_to(roots);
    }
    let bench = Arc::new(bench);
    let mut player = Player::start(bench.clone(), args.play.run.as_deref(), &mut past).map_err(refused)?;
    while player.session().next_call().0 < call
        && player.run().is_some()
        && player.beat(&mut past).map_err(refused)?
    {}
    match player.session().request(CallNo(call)) {
        Some(request) => Ok((bench, request)),
        None => Err(match no_such_call(&player, call) {
            Failure::Message(message) => Failure::message(format!("at {commit} {message}")),
            other => other,
        }),
    }
}

/// A problem of a file as it was: its name says when, so that nobody looks for it on disk.
fn at(problem: Diagnostic, commit: &str) -> Diagnostic {
    let file = problem.file.as_ref().map(|file| format!("{commit}:{file}").into());
    let hint = match &*problem.message {
        "there is no such bench file" => Some("it came later; name a newer revision".to_owned()),
        _ => problem.hint.clone(),
    };
    Diagnostic { file, hint, ..problem }
}
