//! What a session's file and the block in it are to say: a bench, used on somebody's own folder.
//!
//! The bench says which files are read, what stands in the block and in which file it goes. Session, time and folder are
//! those of the real session, whatever the bench says of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::session::Sessions;
use super::{Site, Texts};
use crate::core::bench::{Bench, LayerSource, Markers, Place, PlaceKind, ReadKind};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{Base, FactKey, FilePath, Found, Name, Progress, Value};
use crate::core::overlay::grouped;
use crate::core::run::{Input, Session};
use crate::core::source::Piece;
use crate::core::text::count;
use crate::core::wire::CallNo;
use crate::io::bench_file::{Machine, Target};
use crate::io::load::{BenchRoot, Loader, Roots};
use crate::io::samples;
use crate::io::syntax::Document;

/// The name of the variant that says whose session it is. No variant of a bench can have a space in front.
const OURS: &str = " the session";

/// A bench on somebody's own folder.
#[derive(Debug)]
pub struct Profile {
    document: Document,
    loader: Loader,
    variants: Vec<Name>,
    model: Option<Name>,
    workspace: PathBuf,
    /// The source, from the workspace on; none where it lies elsewhere.
    source: Option<Name>,
    source_path: PathBuf,
}

/// What is asked of a profile.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The bench; none for the program's own profile.
    pub bench: Option<PathBuf>,
    /// Variants of it, applied in this order.
    pub variants: Vec<Name>,
    /// A model instead of the bench's.
    pub model: Option<Name>,
    /// The file with the rules, absolute; it need not exist.
    pub source: PathBuf,
    /// The folder that the agent works in, absolute.
    pub workspace: PathBuf,
    /// True to run the programs whose output the bench reads.
    pub trust: bool,
}

/// What an overlay says, and why it does not say more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composed {
    /// The texts.
    pub texts: Texts,
    /// The block's place.
    pub place: Name,
    /// The characters of the block.
    pub chars: usize,
    /// The most that it may have.
    pub budget: Option<usize>,
    /// Its layers that there was no room for, with the reason.
    pub evicted: Vec<(Name, String)>,
    /// Its layers that say nothing, or cannot, with the reason.
    pub absent: Vec<(Name, String)>,
    /// What else is to be known, each one sentence: cuts, broken markers, files that cannot be read.
    pub told: Vec<String>,
}

impl Profile {
    /// Opens a profile.
    ///
    /// # Errors
    ///
    /// What is wrong with the bench.
    pub fn open(wanted: &Wanted, machine: &Machine) -> Result<Profile, Vec<Diagnostic>> {
        let one = |problem| vec![problem];
        let (root, name) = match &wanted.bench {
            None => (BenchRoot::Embedded(samples::overlay_profile().files), "bench.yaml".into()),
            Some(path) => match Target::find(path).map_err(one)? {
                Target::Bench(path) => {
                    let path = path.canonicalize().unwrap_or(path);
                    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    (BenchRoot::Folder(path.parent().map(Path::to_owned).unwrap_or_default()), name)
                }
                Target::Plain(folder) => {
                    return Err(one(Diagnostic::error(format!(
                        "there is no bench in `{}`",
                        folder.display()
                    ))));
                }
            },
        };
        let roots = Roots { bench: root, workspace: wanted.workspace.clone(), home: machine.home.clone() };
        let mut loader = Loader::new(roots, machine.clock.clone());
        if wanted.trust {
            loader.commands().trust_all();
        }
        let key = FactKey::File(FilePath::new(Base::Bench, name));
        let document = match loader.load(&key) {
            Found::Value(Value::File(file)) => Document::parse(&key.to_string(), file.text.clone())?,
            Found::Failed(reason) => {
                return Err(one(Diagnostic::error(format!("the bench cannot be read: {reason}"))));
            }
            _ => return Err(one(Diagnostic::error("there is no such bench file"))),
        };
        let source = wanted.source.strip_prefix(&wanted.workspace).ok();
        Ok(Profile {
            document,
            loader,
            variants: wanted.variants.clone(),
            model: wanted.model.clone(),
            workspace: wanted.workspace.clone(),
            source: source.map(|path| Name::from(&*path.to_string_lossy().replace('\\', "/"))),
            source_path: wanted.source.clone(),
        })
    }

    /// The name of the bench.
    #[must_use]
    pub fn name(&self) -> String {
        self.document.root().get("name").map_or_else(|| "bench".to_owned(), |name| name.text.to_string())
    }

    /// The files and folders that decided what was composed last, to be watched.
    #[must_use]
    pub fn inputs(&self) -> Vec<PathBuf> {
        self.loader.inputs().into_iter().collect()
    }

    /// The bench for a session that began at this time.
    fn bench(&mut self, session: &str, began: &str) -> Result<Bench, Vec<Diagnostic>> {
        let given = self.document.root().get("facts").is_some_and(|facts| facts.get("session").is_some());
        let session_path = if given { "facts.session" } else { "agent.session" };
        let shown = self.workspace.to_string_lossy().replace('\\', "/");
        let shown = if shown.len() > 1 { shown.trim_end_matches('/') } else { &shown };
        let document = self.document.clone().with_variant(OURS, &[(session_path, session)])?;
        // What a user chose comes last and wins, but for the session.
        let variants: Vec<Name> = self.variants.iter().cloned().chain([Name::from(OURS)]).collect();
        let (mut bench, _) = document.bench(&variants, &mut self.loader)?;
        bench.workspace.clock = Some(began.into());
        bench.workspace.shown_as = Some(shown.into());
        if let Some(model) = &self.model {
            bench.model = model.clone();
        }
        self.loader.limit(bench.byte_limits());
        self.reads_the_source(&mut bench);
        Ok(bench)
    }

    /// Where the source has another name than the bench expects, the read that leaves the block out of it follows.
    fn reads_the_source(&self, bench: &mut Bench) {
        let (Some(source), Some(block)) = (&self.source, block(bench)) else { return };
        let Some(own) = block.markers.clone() else { return };
        let reads_it = |kind: &ReadKind| match kind {
            ReadKind::File { path, leave, .. } => path.base == Base::Workspace && leave.blocks.contains(&own),
            _ => false,
        };
        let mut reading: Vec<&mut ReadKind> =
            bench.reads.values_mut().map(|read| &mut read.kind).filter(|kind| reads_it(kind)).collect();
        if let [ReadKind::File { path, .. }] = &mut reading[..] {
            *path = FilePath::new(Base::Workspace, source.clone());
        }
    }

    /// The files that it is about, for a session; a made-up one will do where only the source is written.
    ///
    /// # Errors
    ///
    /// What is wrong with the bench, or that it has no block with markers.
    pub fn site(&mut self, session: &str) -> Result<Site, Vec<Diagnostic>> {
        let bench = self.bench(session, NEVER)?;
        let missing = |what: &str| vec![Diagnostic::error(format!("the bench {} has no {what}", bench.name))];
        let block = block(&bench).ok_or_else(|| missing("place with `of: block` and markers"))?;
        let own = block.markers.clone().ok_or_else(|| missing("markers for its block"))?;
        let others: Vec<Markers> = bench
            .places
            .values()
            .filter(|place| place.id != block.id)
            .filter_map(|place| place.markers.clone())
            .chain(bench.reads.values().flat_map(|read| match &read.kind {
                ReadKind::File { leave, .. } => leave.blocks.clone(),
                _ => Vec::new(),
            }))
            .filter(|markers| *markers != own)
            .collect();
        let place = bench.places.values().find(|place| place.path.is_some());
        let below = |path: &FilePath| self.workspace.join(&*path.path);
        let file = place.and_then(|place| place.path.as_ref()).map(below);
        let lock = place.and_then(|place| place.lock.as_ref()).map(below);
        Ok(Site {
            workspace: self.workspace.clone(),
            source: self.source_path.clone(),
            lock: lock.unwrap_or_else(|| self.workspace.join(".plywood/overlay.lock")),
            own,
            others,
            sessions: file.and_then(|file| Sessions::of(&file, session)),
        })
    }

    /// What the overlay of a session says now.
    ///
    /// # Errors
    ///
    /// What is wrong with the bench.
    pub fn compose(&mut self, session: &str, began: &str) -> Result<Composed, Vec<Diagnostic>> {
        let bench = Arc::new(self.bench(session, began)?);
        let place = block(&bench).ok_or_else(|| {
            vec![Diagnostic::error(format!("the bench {} has no block with markers", bench.name))]
        })?;
        let mut run = Session::new(bench.clone());
        let refused = |why: crate::core::run::Refused| vec![Diagnostic::error(why.0)];
        let mut progress = run.step(Input::User("".into())).map_err(refused)?;
        while let Progress::Needs(keys) = progress {
            let found: Vec<_> = keys.into_iter().map(|key| (key.clone(), self.loader.load(&key))).collect();
            run.supply(found);
            progress = run.resume();
        }
        let Some(record) = run.prepared() else {
            return Err(vec![Diagnostic::error("the bench makes no request")]);
        };
        let shows = |from: &LayerSource| matches!(from, LayerSource::Place(name) if *name == place.id);
        let shown =
            bench.layers.iter().find(|layer| shows(&layer.from)).and_then(|layer| record.layer(&layer.id));
        let block = shown.and_then(|state| state.state.piece.text()).map(|text| text.text().to_string());
        let block = block.unwrap_or_default();
        let files = run.place_files(CallNo(run.next_call().0));
        let file = files.into_iter().find_map(|(_, text)| text);
        let mut composed = Composed {
            place: place.id.clone(),
            chars: count::chars(&block),
            budget: place.budget,
            evicted: Vec::new(),
            absent: Vec::new(),
            told: record.diagnostics.iter().map(|told| told.message.clone()).collect(),
            texts: Texts { block, file: file.map(|file| file.to_string()).unwrap_or_default() },
        };
        for layer in bench.layers.iter().filter(|layer| layer.place == place.id) {
            let name = layer.shown().clone();
            match record.layer(&layer.id).map(|state| &state.state.piece) {
                Some(Piece::Omitted(reason)) => match reason.strip_prefix(crate::core::overlay::EVICTED) {
                    Some(why) => composed.evicted.push((name, why.to_owned())),
                    None => composed.absent.push((name, reason.to_string())),
                },
                Some(Piece::Failed(told) | Piece::Stopped(told)) => {
                    composed.absent.push((name, told.message.clone()));
                }
                Some(Piece::Text { .. }) | None => {}
            }
        }
        Ok(composed)
    }
}

impl Composed {
    /// The size of the block: `1,780 of 3,500 characters`.
    #[must_use]
    pub fn size(&self) -> String {
        match self.budget {
            Some(budget) => format!("{} of {} characters", grouped(self.chars), grouped(budget)),
            None => format!("{} characters", grouped(self.chars)),
        }
    }
}

/// A time for what does not depend on it.
const NEVER: &str = "1970-01-01T00:00:00Z";

/// How long nothing has to change before an overlay that is watched is made again.
pub const QUIET: Duration = Duration::from_millis(300);

/// The block that is the overlay: the first one with markers and a budget, else the first with markers.
#[must_use]
pub fn block(bench: &Bench) -> Option<&Place> {
    let blocks =
        || bench.places.values().filter(|place| place.kind == PlaceKind::Block && place.markers.is_some());
    blocks().find(|place| place.budget.is_some()).or_else(|| blocks().next())
}
