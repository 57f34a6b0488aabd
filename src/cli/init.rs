//! `plywood init [FOLDER]`: a bench for a folder, or from a request that was really sent.

use std::path::Path;

use super::args::{BenchArgs, InitArgs};
use super::check;
use super::open::Bench;
use super::output::{Failure, Out, Outcome, Result};
use crate::core::wire::{Equality, compare};
use crate::io::bench_file::Machine;
use crate::io::{init, recording};

/// Writes a bench; with a recording, status 1 when the bench's request is not the recorded one.
pub(super) fn run(args: &InitArgs, out: &mut Out<'_>) -> Result {
    let folder = &*args.folder;
    if !folder.is_dir() {
        return Err(Failure::message(format!("there is no folder `{}`", folder.display())));
    }
    let machine = Machine::this();
    let Some(from) = &args.from else {
        let draft = init::plain(folder, &machine);
        write(&draft, folder, out)?;
        // What was written has to be right; where it is not, the user is told at once and not on opening it.
        Bench::open(&folder.join("bench.yaml"), &BenchArgs::default())?.start()?;
        return Ok(Outcome::Done);
    };
    let recorded = recording::read(from).map_err(|problem| Failure::Diagnostics(vec![problem]))?;
    let name = from.file_name().map_or_else(|| "standard input".into(), |name| name.to_string_lossy());
    let draft = init::from_recording(&recorded, &name, folder, &machine);
    write(&draft, folder, out)?;
    for note in &draft.notes {
        out.line(format_args!("note: {note}"))?;
    }
    let path = folder.join("bench.yaml");
    let mut bench = Bench::open(&path, &BenchArgs::default())?;
    let call = check::call_of(&recorded);
    let player = bench.play_to(call)?;
    let comparison = compare(&bench.request(&player, call)?, &recorded);
    check::against(&bench, &path, (from, &recorded), call, &comparison, out)?;
    Ok(if comparison.equality == Equality::ByteIdentical { Outcome::Done } else { Outcome::Found })
}

fn write(draft: &init::Draft, folder: &Path, out: &mut Out<'_>) -> Result<()> {
    for path in draft.write(folder).map_err(Failure::Diagnostics)? {
        out.line(format_args!("wrote {}", path.display()))?;
    }
    if !draft.layers_from.is_empty() {
        out.line(format_args!("layers from {}", draft.layers_from.join(", ")))?;
    }
    Ok(())
}
