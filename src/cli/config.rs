//! `plywood config`: the settings, where each comes from, and a file to begin with.

use serde::Serialize;

use super::args::ConfigArgs;
use super::head::Schema;
use super::output::{Failure, Out, Outcome, Result, Table};
use super::settings::{Environment, shown, sources};
use super::themes::unknown;
use crate::io::settings::themes::ThemeFiles;
use crate::io::settings::{KNOWN, template::template};

#[derive(Serialize)]
struct Report {
    path: Option<String>,
    settings: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    key: &'static str,
    value: String,
    origin: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<&'static str>,
}

/// Prints the settings that are in force here, or what was asked for instead.
pub(super) fn run(args: &ConfigArgs, out: &mut Out<'_>) -> Result {
    if args.default {
        out.text(&template())?;
        return Ok(Outcome::Done);
    }
    let sources = sources(&args.settings, &Environment::of_process())?;
    let path = sources.places.file.as_deref();
    if args.path {
        let path =
            path.ok_or_else(|| Failure::message("there is no home folder, so there is no settings file"))?;
        out.line(path.display())?;
        return Ok(Outcome::Done);
    }
    let settings = sources.read().map_err(Failure::Diagnostics)?;
    let rows = settings.listed().into_iter().map(|(key, value, origin)| {
        let variable = KNOWN.iter().find(|known| known.key == key).and_then(|known| known.variable);
        Row { key, value, origin, variable }
    });
    if args.json {
        let path = path.map(|path| path.display().to_string());
        out.json(&Schema::Config.plain(Report { path, settings: rows.collect() }))?;
    } else {
        let mut table = Table::new(&["setting", "value", "from", "or set"]);
        for row in rows {
            let variable = row.variable.unwrap_or_default().to_owned();
            table.row([row.key.to_owned(), row.value, row.origin, variable]);
        }
        table.write(out)?;
        let exists = path.is_some_and(std::path::Path::exists);
        let note =
            if exists { "" } else { " (not there; `plywood config --default` prints one to begin with)" };
        out.line(format_args!("\nfile: {}{note}", shown(path)))?;
    }
    let files = ThemeFiles { folder: sources.places.themes() };
    Ok(Outcome::Told(unknown(&settings, &files)))
}
