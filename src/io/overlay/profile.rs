//! What a session's file and the block in it are to say: a bench, used on somebody's own folder.
//!
//! The bench says which files are read, what stands in the block and in which file it goes. Session, time and folder are
//! those of the real session, whatever the bench says of its own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::session::Sessions;
use super::world::World;
use super::{Site, Texts, write};
use crate::core::bench::{Bench, LayerSource, Markers, Place, PlaceKind, ReadKind};
use crate::core::diagnostic::Diagnostic;
use crate::core::fact::{Base, FactKey, FilePath, Found, Name, Progress, Value};
use crate::core::run::{CallRecord, Input, Session};
use crate::core::source::Piece;
use crate::core::text::count;
use crate::core::text::number::grouped;
use crate::core::wire::CallNo;
use crate::io::bench_file::{Machine, Target};
use crate::io::load::{BenchRoot, Loader, MAX_BYTES, Roots};
use crate::io::samples;
use crate::io::syntax::Document;

/// The name of the variant that says whose session it is. No variant of a bench can have a space in front.
const OURS: &str = " the session";

/// A bench on somebody's own folder.
#[derive(Debug)]
pub struct Profile {
    /// The bench file, as the loader knows it.
    key: FactKey,
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
    /// The bench; none for a sample.
    pub bench: Option<PathBuf>,
    /// The sample where there is no `bench`; none for the program's own profile.
    pub sample: Option<&'static samples::Sample>,
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
    /// Code maps that were made, with the files in which they are kept for the next time.
    pub caches: Vec<(PathBuf, Arc<str>)>,
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
            None => {
                let sample = wanted.sample.unwrap_or_else(samples::overlay_profile);
                (BenchRoot::Embedded(sample.files), "bench.yaml".into())
            }
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
        let document = read(&mut loader, &key)?;
        let source = wanted.source.strip_prefix(&wanted.workspace).ok();
        Ok(Profile {
            key,
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

    /// The folder that the agent works in.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Looks at everything again that was read; true where something is another than it was when this was last asked.
    pub fn changed(&mut self, hinted: &BTreeSet<PathBuf>) -> bool {
        !self.loader.changed_at(hinted).is_empty()
    }

    /// The files and folders that decided what was composed last, to be watched.
    #[must_use]
    pub fn inputs(&self) -> Vec<PathBuf> {
        self.loader.inputs().into_iter().collect()
    }

    /// The bench for a session that began at this time.
    fn bench(&mut self, session: &str, began: &str) -> Result<Bench, Vec<Diagnostic>> {
        // The bench itself may be edited while it is followed.
        let now = read(&mut self.loader, &self.key)?;
        if now.source().rev != self.document.source().rev {
            self.document = now;
        }
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
        keeps_maps(&mut bench);
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
        let wrong = || {
            vec![Diagnostic::error(format!(
                "the bench {} has no place with `of: block` and markers",
                bench.name
            ))]
        };
        site_of(&bench, &self.workspace, self.source_path.clone(), session).ok_or_else(wrong)
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
        let texts = texts_of(&run, record);
        let mut composed = Composed {
            place: place.id.clone(),
            chars: count::chars(&texts.block),
            budget: place.budget,
            evicted: Vec::new(),
            absent: Vec::new(),
            told: record.diagnostics.iter().map(|told| told.message.clone()).collect(),
            texts,
            caches: Vec::new(),
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
        let size = std::fs::metadata(&self.source_path).map_or(0, |about| about.len());
        if size > MAX_BYTES as u64 {
            let most = MAX_BYTES / (1024 * 1024);
            composed
                .told
                .push(format!("the source is read up to {most} MiB: the rest is not in a session's file"));
        }
        let caches: Vec<FilePath> = caches(&bench).cloned().collect();
        run.step(Input::Say("".into())).map_err(refused)?;
        composed.caches = run
            .written(CallNo(1))
            .filter(|(path, _)| caches.contains(path))
            .filter_map(|(path, text)| Some((self.workspace.join(&*path.path), text?.clone())))
            .collect();
        Ok(composed)
    }
}

/// A map of a large repository is made once for each state of its index, not once for each command: beside the locks there
/// is a place for it, unless the bench names one.
fn keeps_maps(bench: &mut Bench) {
    let lock = bench.places.values().find_map(|place| place.lock.clone());
    let Some(state) = lock.as_ref().and_then(|lock| Path::new(&*lock.path).parent()?.parent()) else {
        return;
    };
    let cache = state.join("cache/codebase-map.json").to_string_lossy().replace('\\', "/");
    let mut maps: Vec<&mut Option<FilePath>> = bench
        .reads
        .values_mut()
        .filter_map(|read| match &mut read.kind {
            ReadKind::GitFiles { cache, .. } => Some(cache),
            _ => None,
        })
        .collect();
    // Two maps in one file would drive each other out.
    if let [kept] = &mut maps[..]
        && kept.is_none()
    {
        **kept = Some(FilePath::new(Base::Workspace, cache));
    }
}

/// The files in which the code maps of a bench are kept.
fn caches(bench: &Bench) -> impl Iterator<Item = &FilePath> {
    bench.reads.values().filter_map(|read| match &read.kind {
        ReadKind::GitFiles { cache, .. } => cache.as_ref(),
        _ => None,
    })
}

/// The files that the overlay of a bench is about; none where it has no block with markers.
#[must_use]
pub fn site_of(bench: &Bench, workspace: &Path, source: PathBuf, session: &str) -> Option<Site> {
    let block = block(bench)?;
    let own = block.markers.clone()?;
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
    let sign = bench.reads.values().find_map(|read| match &read.kind {
        ReadKind::File { path, leave, .. } if path.base == Base::Workspace && leave.blocks.contains(&own) => {
            leave.not_if.clone()
        }
        _ => None,
    });
    let place = bench.places.values().find(|place| place.path.is_some());
    let below = |path: &FilePath| workspace.join(&*path.path);
    let file = place.and_then(|place| place.path.as_ref()).map(below);
    let lock = place.and_then(|place| place.lock.as_ref()).map(below);
    Some(Site {
        workspace: workspace.to_owned(),
        source,
        lock: lock.unwrap_or_else(|| workspace.join(".plywood/overlay.lock")),
        own,
        others,
        sign,
        sessions: file.and_then(|file| Sessions::of(&file, session)),
    })
}

/// The file of the workspace from which the overlay's own block is left out when it is read: the source. None where no
/// read does that, or several do.
#[must_use]
pub fn source_of(bench: &Bench) -> Option<&FilePath> {
    let own = block(bench)?.markers.as_ref()?;
    let mut sources = bench.reads.values().filter_map(|read| match &read.kind {
        ReadKind::File { path, leave, .. } if path.base == Base::Workspace && leave.blocks.contains(own) => {
            Some(path)
        }
        _ => None,
    });
    sources.next().filter(|_| sources.next().is_none())
}

/// The block that is the overlay, and the file of the session, as a call is sent them.
#[must_use]
pub fn texts_of(run: &Session, record: &CallRecord) -> Texts {
    let bench = run.bench();
    let shown = block(bench).and_then(|place| {
        let shows = |from: &LayerSource| matches!(from, LayerSource::Place(name) if *name == place.id);
        bench.layers.iter().find(|layer| shows(&layer.from)).and_then(|layer| record.layer(&layer.id))
    });
    let block = shown.and_then(|state| state.state.piece.text()).map(|text| text.text().to_string());
    let file = run.place_files(record.call).into_iter().find_map(|(_, text)| text);
    Texts { block: block.unwrap_or_default(), file: file.map(|file| file.to_string()).unwrap_or_default() }
}

/// The bench file as it is now.
fn read(loader: &mut Loader, key: &FactKey) -> Result<Document, Vec<Diagnostic>> {
    let problem = match loader.load(key) {
        Found::Value(Value::File(file)) => return Document::parse(&key.to_string(), file.text.clone()),
        Found::Failed(reason) => format!("the bench cannot be read: {reason}"),
        _ => "there is no such bench file".to_owned(),
    };
    Err(vec![Diagnostic::error(problem)])
}

impl Composed {
    /// Keeps the code maps that were made, each whole. Where one cannot be kept, it is made again the next time.
    pub fn keep_caches(&self, world: &dyn World) {
        for (path, text) in &self.caches {
            let kept = path.parent().map(|folder| world.make_folder(folder));
            let now = write::content(world, path);
            if let (Some(Ok(())), Ok(now)) = (kept, now) {
                let _ = write::replace(world, path, now.as_deref(), Some(text.as_bytes()));
            }
        }
    }

    /// The size of the block: `1,780 of 3,500 characters`.
    #[must_use]
    pub fn size(&self) -> String {
        match self.budget {
            Some(budget) => format!("{} of {} characters", grouped(self.chars), grouped(budget)),
            None if self.chars == 1 => "1 character".to_owned(),
            None => format!("{} characters", grouped(self.chars)),
        }
    }
}

/// A time for what does not depend on it.
const NEVER: &str = "1970-01-01T00:00:00Z";

/// The block that is the overlay: the first one with markers and a budget, else the first with markers.
#[must_use]
pub fn block(bench: &Bench) -> Option<&Place> {
    let blocks =
        || bench.places.values().filter(|place| place.kind == PlaceKind::Block && place.markers.is_some());
    blocks().find(|place| place.budget.is_some()).or_else(|| blocks().next())
}
