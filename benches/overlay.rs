//! The overlay: markers found, a block put in and taken out of 5 MB, a block composed of many sections, and the code map
//! of a large repository.
//!
//! `cargo bench --bench overlay`; the ratios at the end are what counts. The peer of the first ones is a copy of the file:
//! nobody can write it with less. The peer of the code map is git alone, which lists the files.
#[expect(dead_code, reason = "each bench takes what it needs of the common inputs")]
#[path = "common/inputs.rs"]
mod inputs;
#[path = "common/ratios.rs"]
mod ratios;

use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use criterion::{Criterion, criterion_group, criterion_main};
use inputs::MB;
use plywood::core::bench::Markers;
use plywood::core::fact::{Base, FactKey, FilePath};
use plywood::core::overlay::file::{apply, strip};
use plywood::core::overlay::scan::scan;
use plywood::io::bench_file::Machine;
use plywood::io::load::{BenchRoot, Loader, Roots, fixed_clock};
use plywood::io::overlay::profile::{Profile, Wanted};
use ratios::Ratios;

const START: &str = "<!-- RUN:START -->";
const END: &str = "<!-- RUN:END -->";
const FILES: usize = 200_000;

fn git(folder: &Path, args: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").stdout(Stdio::null());
    git
}

/// A repository whose index lists this many files, none of which is there.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(git(folder.path(), &["init", "-q"]).status().expect("git").success());
    let mut child =
        git(folder.path(), &["update-index", "--index-info"]).stdin(Stdio::piped()).spawn().expect("git");
    let lines: String = (0..FILES)
        .map(|n| {
            format!(
                "100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\tdir{}/sub{}/file{n}.rs\n",
                n % 40,
                n % 997
            )
        })
        .collect();
    child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("written");
    assert!(child.wait().expect("it ends").success());
    folder
}

fn all(c: &mut Criterion) {
    let ratios = Ratios::default();
    let markers = Markers { name: "run".into(), start: START.into(), end: END.into() };
    let block = format!("{START}\n{}\n{END}", "a line of the block\n".repeat(150));
    let (prose, code) = (inputs::english(5 * MB, 1), inputs::code(5 * MB, 2));
    for (name, text) in [("prose", &prose), ("code", &code), ("line ends", &"\n".repeat(5 * MB))] {
        let file = text.as_bytes();
        let applied = apply(Some(file), &block, &markers).expect("applied");
        let mut copy = || drop(black_box(black_box(file).to_vec()));
        let look = || drop(black_box(scan(black_box(file), &markers, &[])));
        ratios.measure(c, &format!("scan 5 MB, {name}"), file.len(), look, Some(("a copy", &mut copy)));
        let put = || drop(black_box(apply(Some(black_box(file)), &block, &markers)));
        ratios.measure(c, &format!("apply to 5 MB, {name}"), file.len(), put, Some(("a copy", &mut copy)));
        let take = || drop(black_box(strip(black_box(&applied), &markers).map(|out| out.of(&applied))));
        ratios.measure(c, &format!("strip 5 MB, {name}"), file.len(), take, Some(("a copy", &mut copy)));
    }

    let folder = repository();
    let workspace = folder.path().canonicalize().expect("a path");
    let mut list =
        || assert!(git(&workspace, &["ls-files", "--cached", "-z"]).status().expect("git").success());
    let key = FactKey::Git(FilePath::new(Base::Workspace, ""));
    let roots = || Roots { bench: BenchRoot::Embedded(&[]), workspace: workspace.clone(), home: None };
    let fresh = || {
        let mut loader = Loader::new(roots(), fixed_clock("2026-03-07T08:00:00Z"));
        drop(black_box(loader.load(&key)));
    };
    ratios.measure(c, "200,000 tracked files, listed", FILES, fresh, Some(("git alone", &mut list)));
    let machine = Machine { clock: fixed_clock("2026-03-07T08:00:00Z"), home: None };
    let wanted =
        Wanted { source: workspace.join("AGENTS.md"), workspace: workspace.clone(), ..Wanted::default() };
    let compose = |wanted: &Wanted| {
        let mut profile = Profile::open(wanted, &machine).expect("a profile");
        profile.compose("s1", "2026-03-07T08:00:00Z").expect("composed")
    };
    assert!(compose(&wanted).texts.block.contains("dir0/: "), "the map is in it");
    let cold = || drop(black_box(compose(&wanted)));
    ratios.measure(c, "the overlay of it, map made", FILES, cold, Some(("git alone", &mut list)));
    compose(&wanted).keep_caches(&plywood::io::overlay::world::Machine);
    let kept = || drop(black_box(compose(&wanted)));
    ratios.measure(c, "the overlay of it, map kept", FILES, kept, Some(("git alone", &mut list)));
    ratios.print();
}

criterion_group!(benches, all);
criterion_main!(benches);
