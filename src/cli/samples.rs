//! `plywood samples`.

use serde::Serialize;

use super::args::JsonArgs;
use super::head::Schema;
use super::output::{Out, Outcome, Result, Table};
use crate::io::samples::samples;

#[derive(Serialize)]
struct Report {
    samples: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    about: &'static str,
    files: usize,
}

/// Prints the name of each sample and what it shows.
pub(super) fn run(args: JsonArgs, out: &mut Out<'_>) -> Result {
    if args.json {
        let samples = samples()
            .iter()
            .map(|sample| Row { name: sample.name, about: sample.about, files: sample.files.len() })
            .collect();
        out.json(&Schema::Samples.plain(Report { samples }))?;
    } else {
        let mut table = Table::new(&["sample", ">files", "what it shows"]);
        for sample in samples() {
            table.row([sample.name.to_owned(), sample.files.len().to_string(), sample.about.to_owned()]);
        }
        table.write(out)?;
    }
    Ok(Outcome::Done)
}
