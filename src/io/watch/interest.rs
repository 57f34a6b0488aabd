//! Which inputs an event is about.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind};

use super::burst::Inputs;
use super::walk::Spot;

/// The spots of all inputs, by folder.
#[derive(Debug, Default)]
pub(super) struct Interest {
    folders: BTreeMap<PathBuf, Folder>,
}

#[derive(Debug, Default)]
struct Folder {
    /// The inputs that lead through a name.
    names: BTreeMap<OsString, Inputs>,
    /// The inputs that are this folder.
    listing: Inputs,
}

/// What an event means.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Touched {
    /// The inputs to look at.
    pub(super) inputs: Inputs,
    /// Those of them whose way may lead elsewhere now.
    pub(super) rerouted: Inputs,
    /// Watched folders that may no longer be the ones that are watched, with everything beneath them.
    pub(super) replaced: BTreeSet<PathBuf>,
}

impl Interest {
    /// Adds a spot of an input.
    pub(super) fn add(&mut self, spot: Spot<'_>, input: &Arc<Path>) {
        let (Spot::Entry { folder, .. } | Spot::Listing { folder }) = spot;
        let entry = match self.folders.get_mut(folder) {
            Some(entry) => entry,
            None => self.folders.entry(folder.to_owned()).or_default(),
        };
        match spot {
            Spot::Entry { name, .. } => match entry.names.get_mut(name) {
                Some(inputs) => inputs.insert(Arc::clone(input)),
                None => entry.names.entry(name.to_owned()).or_default().insert(Arc::clone(input)),
            },
            Spot::Listing { .. } => entry.listing.insert(Arc::clone(input)),
        };
    }

    /// Whether anybody is interested in this folder.
    pub(super) fn has(&self, folder: &Path) -> bool {
        self.folders.contains_key(folder)
    }

    /// The inputs that lead through this folder or end in it.
    pub(super) fn through<'a>(&'a self, folder: &Path) -> impl Iterator<Item = &'a Arc<Path>> {
        self.folders.get(folder).into_iter().flat_map(Folder::inputs)
    }

    /// What an event means for the inputs; nothing for most, because a folder is watched for a few names in it.
    pub(super) fn touched(&self, event: &Event) -> Touched {
        let mut touched = Touched::default();
        // Whoever maps a file into memory writes it without an event; its closing is the only sign.
        let is_data = matches!(
            event.kind,
            EventKind::Modify(ModifyKind::Data(_)) | EventKind::Access(AccessKind::Close(AccessMode::Write))
        );
        if event.kind.is_access() && !is_data {
            return touched;
        }
        let is_metadata = matches!(event.kind, EventKind::Modify(ModifyKind::Metadata(_)));
        for path in &event.paths {
            let place = path.parent().zip(path.file_name());
            if let Some((folder, name)) =
                place.and_then(|(parent, name)| Some((self.folders.get(parent)?, name)))
            {
                if let Some(inputs) = folder.names.get(name) {
                    touched.inputs.extend(inputs.iter().cloned());
                    if !is_data {
                        touched.rerouted.extend(inputs.iter().cloned());
                    }
                }
                // What a file contains is no matter of the listing, which names there are is.
                if !is_data && !is_metadata {
                    touched.inputs.extend(folder.listing.iter().cloned());
                }
            }
            if !is_data && self.has(path) {
                for (_, folder) in self.within(path) {
                    touched.inputs.extend(folder.inputs().cloned());
                    touched.rerouted.extend(folder.inputs().cloned());
                }
                touched.replaced.insert(path.clone());
            }
        }
        touched
    }

    /// This folder and those beneath it.
    fn within<'a>(&'a self, folder: &'a Path) -> impl Iterator<Item = (&'a PathBuf, &'a Folder)> {
        // Paths are ordered by component, so what is beneath a folder follows it without a gap.
        self.folders
            .range::<Path, _>((Bound::Included(folder), Bound::Unbounded))
            .take_while(move |(path, _)| path.starts_with(folder))
    }
}

impl Folder {
    fn inputs(&self) -> impl Iterator<Item = &Arc<Path>> {
        self.names.values().chain([&self.listing]).flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use notify::event::{CreateKind, DataChange, MetadataKind, RemoveKind, RenameMode};

    use super::*;

    fn entry<'a>(folder: &'a str, name: &'a str) -> Spot<'a> {
        Spot::Entry { folder: Path::new(folder), name: OsStr::new(name) }
    }

    fn interest() -> Interest {
        let mut interest = Interest::default();
        let file: Arc<Path> = Path::new("/ws/a/file").into();
        let glob: Arc<Path> = Path::new("/ws/skills").into();
        interest.add(entry("/ws", "a"), &file);
        interest.add(entry("/ws/a", "file"), &file);
        interest.add(entry("/ws", "skills"), &glob);
        interest.add(Spot::Listing { folder: Path::new("/ws/skills") }, &glob);
        interest
    }

    fn names(inputs: &Inputs) -> Vec<&str> {
        inputs.iter().filter_map(|input| input.to_str()).collect()
    }

    #[track_caller]
    fn check(kind: EventKind, path: &str, inputs: &[&str], rerouted: &[&str], replaced: &[&str]) {
        let touched = interest().touched(&Event::new(kind).add_path(path.into()));
        assert_eq!(names(&touched.inputs), inputs, "{kind:?} {path}");
        assert_eq!(names(&touched.rerouted), rerouted, "{kind:?} {path}");
        assert_eq!(touched.replaced, replaced.iter().map(PathBuf::from).collect(), "{kind:?} {path}");
    }

    const WRITTEN: EventKind = EventKind::Modify(ModifyKind::Data(DataChange::Any));
    const MARKED: EventKind = EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any));
    const RENAMED: EventKind = EventKind::Modify(ModifyKind::Name(RenameMode::To));
    const CREATED: EventKind = EventKind::Create(CreateKind::File);
    const REMOVED: EventKind = EventKind::Remove(RemoveKind::Folder);
    const CLOSED: EventKind = EventKind::Access(AccessKind::Close(AccessMode::Write));
    const OPENED: EventKind = EventKind::Access(AccessKind::Open(AccessMode::Any));

    #[test]
    fn only_named_entries_count() {
        check(WRITTEN, "/ws/a/file", &["/ws/a/file"], &[], &[]);
        check(CLOSED, "/ws/a/file", &["/ws/a/file"], &[], &[]);
        check(OPENED, "/ws/a/file", &[], &[], &[]);
        check(RENAMED, "/ws/a/file", &["/ws/a/file"], &["/ws/a/file"], &[]);
        check(CREATED, "/ws/a/file~", &[], &[], &[]);
        check(CREATED, "/ws/b", &[], &[], &[]);
    }

    #[test]
    fn a_listing_is_about_names_not_contents() {
        check(CREATED, "/ws/skills/new", &["/ws/skills"], &[], &[]);
        check(RENAMED, "/ws/skills/new", &["/ws/skills"], &[], &[]);
        check(WRITTEN, "/ws/skills/new", &[], &[], &[]);
        check(MARKED, "/ws/skills/new", &[], &[], &[]);
    }

    #[test]
    fn a_folder_that_goes_takes_what_is_beneath_it() {
        check(REMOVED, "/ws/a", &["/ws/a/file"], &["/ws/a/file"], &["/ws/a"]);
        let all = ["/ws/a/file", "/ws/skills"];
        check(REMOVED, "/ws", &all, &all, &["/ws"]);
    }
}
