//! `plywood check --lints`: what the lints look for.

use serde::Serialize;

use crate::cli::args::CheckFormat;
use crate::cli::head::Schema;
use crate::cli::output::{Failure, Out, Outcome, Result};
use crate::core::lint::{Row, TABLE};

#[derive(Serialize)]
struct Report {
    lints: Vec<LintReport>,
}

#[derive(Serialize)]
struct LintReport {
    lint: &'static str,
    level: &'static str,
    finds: &'static str,
    why: &'static str,
    fix: &'static str,
}

/// Lists the lints.
pub(super) fn run(format: CheckFormat, out: &mut Out<'_>) -> Result {
    match format {
        CheckFormat::Text => TABLE.iter().try_for_each(|row| text(row, out))?,
        CheckFormat::Json => {
            let lint = |row: &Row| LintReport {
                lint: row.word,
                level: row.level.word(),
                finds: row.what,
                why: row.why,
                fix: row.fix,
            };
            out.json(&Schema::Lints.plain(Report { lints: TABLE.iter().map(lint).collect() }))?;
        }
        CheckFormat::Github => {
            return Err(Failure::message("--lints lists what is looked for: as text, or with --json"));
        }
    }
    Ok(Outcome::Done)
}

fn text(row: &Row, out: &mut Out<'_>) -> std::io::Result<()> {
    let level = row.level.word();
    let name = out.painted(row.word, "1");
    out.raw_line(format_args!("{name} ({level})"))?;
    for (word, said) in [("finds", row.what), ("why", row.why), ("fix", row.fix)] {
        out.line(format_args!("  {word:<5}  {said}"))?;
    }
    Ok(())
}
