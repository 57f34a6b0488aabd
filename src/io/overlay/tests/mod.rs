//! The overlay on real files, with processes that die and disks that say no at every step.

mod acts;
mod files;
mod sessions;
mod steps;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::faults::{Fault, Living, Process};
use super::session::{Life, Record, SCHEMA, Sessions, Target};
use super::world::{Machine, World};
use super::{Overlay, Site, Texts, Trouble, owner};
use crate::core::bench::Markers;
use crate::core::overlay::generated::Sign;

const START: &str = "<!-- X:START -->";
const END: &str = "<!-- X:END -->";
const SIGN: &str = "<!-- made -->";
const NOW: &str = "2026-04-01T09:00:00Z";

fn block() -> String {
    format!("{START}\nSession ID: s1\n{END}")
}

struct Scene {
    folder: tempfile::TempDir,
    site: Site,
    living: Living,
}

impl Scene {
    /// A project with this source, or none.
    fn new(source: Option<&str>) -> Scene {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = folder.path().canonicalize().expect("a path");
        let site = Site {
            source: workspace.join("AGENTS.md"),
            lock: workspace.join(".agent/locks/overlay"),
            own: Markers { name: "x".into(), start: START.into(), end: END.into() },
            others: Vec::new(),
            sign: Some(Sign { line: SIGN.into(), behind: None }),
            sessions: Some(Sessions {
                folder: workspace.join(".agent/sessions"),
                file: PathBuf::from("AGENTS.md"),
            }),
            workspace,
        };
        let scene = Scene { folder, site, living: Living::default() };
        if let Some(source) = source {
            fs::write(&scene.site.source, source).expect("written");
        }
        scene
    }

    fn overlay<'w>(&'w self, world: &'w dyn World) -> Overlay<'w> {
        Overlay { world, site: &self.site, patience: Duration::from_secs(5), dry: false }
    }

    fn source(&self) -> Option<String> {
        fs::read_to_string(&self.site.source).ok()
    }

    fn session_file(&self) -> Option<String> {
        fs::read_to_string(self.site.sessions.as_ref().expect("there are").file("s1")).ok()
    }

    fn record(&self, world: &dyn World, target: Target) -> Record {
        Record {
            schema: SCHEMA.into(),
            id: "s1".into(),
            owner: world.me(),
            workspace: self.site.workspace.clone(),
            source: self.site.source.clone(),
            target,
            began: NOW.into(),
            ended: None,
            resumed: 0,
            written: Vec::new(),
        }
    }

    /// Every file, from the folder on, in order.
    fn files(&self) -> Vec<String> {
        fn walk(root: &Path, folder: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).expect("listed") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    walk(root, &path, found);
                } else {
                    found.push(path.strip_prefix(root).expect("below").to_string_lossy().into_owned());
                }
            }
        }
        let mut found = Vec::new();
        walk(self.folder.path(), self.folder.path(), &mut found);
        found.sort();
        found
    }
}

fn texts() -> Texts {
    Texts { block: block(), file: format!("# rules\n\n{}\n", block()) }
}
