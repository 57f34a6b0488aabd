//! Messages of a workflow of GitHub, which shows them beside the lines that they name.

use std::path::Path;

use super::text::{lint_message, summary, worth_lines};
use super::{Checked, Looked, Recorded, shown, worst_first};
use crate::cli::output::Out;
use crate::core::diagnostic::{Diagnostic, Severity};
use crate::core::wire::Author;

/// Writes one message for each finding.
pub(super) fn write(
    looked: &[Looked],
    recorded: Option<&Recorded>,
    out: &mut Out<'_>,
) -> std::io::Result<()> {
    // A workflow shows so many messages and no more: the worst come first.
    for looked in worst_first(looked) {
        match &looked.outcome {
            Ok(checked) => of_bench(&looked.path, checked, recorded, out)?,
            Err(problems) => {
                for problem in problems {
                    let file = problem.file.as_deref().map_or(&*looked.path, Path::new);
                    let file = in_repository(file).filter(|_| file.exists());
                    message(problem, file, &problem.message, out)?;
                }
            }
        }
    }
    if looked.len() > 1 {
        summary(looked, out)?;
    }
    Ok(())
}

fn of_bench(
    path: &Path,
    checked: &Checked,
    recorded: Option<&Recorded>,
    out: &mut Out<'_>,
) -> std::io::Result<()> {
    let bench = &checked.bench;
    let file_of = |file: &str| {
        let file = Path::new(file);
        (!bench.is_copy() && file.exists()).then(|| in_repository(file)).flatten()
    };
    let names = |id: &str| bench.shown(id);
    if let Some(((call, comparison), recorded)) = checked.found.against.as_ref().zip(recorded) {
        for difference in &comparison.differences {
            let written = difference.author.as_ref().and_then(|author| author.written.as_ref());
            let fact = || difference.author.as_ref().and_then(|author: &Author| author.fact.as_deref());
            let file = written.map(|written| &*written.file).or_else(fact);
            let mut problem = Diagnostic::error(format!(
                "call {call} of {} is not what {} recorded: {}\nrecorded: {}\nbench: {}",
                shown(path),
                recorded.path.display(),
                difference.sentence(&names),
                difference.recorded,
                difference.bench
            ));
            problem.at = written.map(|written| written.at);
            let said = problem.message.clone();
            let file = file.and_then(|file| in_repository(&bench.path_from_here(file)?));
            message(&problem, file, &said, out)?;
        }
    }
    let mut all: Vec<(Diagnostic, String)> = Vec::new();
    all.extend(checked.found.diagnostics.iter().map(|problem| (problem.clone(), problem.message.clone())));
    for lint in checked.found.lints.iter().filter(|lint| lint.finding.allowed.is_none()) {
        let mut said = lint_message(lint);
        for line in worth_lines(&lint.finding) {
            said.push_str(&format!("\n{line}"));
        }
        all.push((lint.finding.diagnostic.clone(), said));
    }
    all.extend(
        checked
            .found
            .breaches
            .iter()
            .map(|breach| (breach.diagnostic.clone(), format!("contract: {}", breach.diagnostic.message))),
    );
    for lost in checked.found.lost.iter().filter(|lost| lost.is_too_much()) {
        let mut said = format!("max-lost: {}", lost.message());
        for (sentence, _) in &lost.calls {
            said.push_str(&format!("\n{sentence}"));
        }
        let place = lost.calls.iter().find_map(|(_, place)| place.clone());
        all.push((
            Diagnostic { severity: Severity::Error, ..place.unwrap_or_else(|| Diagnostic::error("")) },
            said,
        ));
    }
    for (problem, said) in all {
        let file = problem.file.as_deref().and_then(file_of);
        // What is in no file of the repository is told with its own name.
        let said = match (&problem.file, &file) {
            (Some(name), None) => {
                let at = problem.at.map_or_else(String::new, |at| format!(":{at}"));
                format!("{}, {name}{at}: {said}", shown(path))
            }
            _ => said,
        };
        message(&problem, file, &said, out)?;
    }
    Ok(())
}

fn message(problem: &Diagnostic, file: Option<String>, said: &str, out: &mut Out<'_>) -> std::io::Result<()> {
    let mut place = String::from(" ");
    if let Some(file) = file {
        place.push_str(&format!("file={},", property(&file)));
        if let Some(at) = problem.at {
            place.push_str(&format!("line={},col={},", at.line, at.column));
        }
    }
    let level = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let hint = problem.hint.as_ref().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
    out.line(format_args!("::{level}{place}title=plywood check::{}{}", escaped(said), escaped(&hint)))
}

/// A file as GitHub names it: from the top of its repository, else from here. None for what is in neither.
fn in_repository(file: &Path) -> Option<String> {
    let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    // The folder's links are followed and the file's are not: it is where its name stands.
    let file = folder.canonicalize().ok()?.join(file.file_name()?);
    let top = file.ancestors().skip(1).find(|folder| folder.join(".git").exists()).map(Path::to_owned);
    let here = || std::env::current_dir().and_then(|here| here.canonicalize()).ok();
    let below =
        |folder: &Path| file.strip_prefix(folder).ok().map(|path| path.to_string_lossy().replace('\\', "/"));
    top.as_deref().and_then(below).or_else(|| below(&here()?))
}

/// A message as GitHub's workflow commands want it.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property as GitHub's workflow commands want it.
fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_workflow() {
        assert_eq!(escaped("100 %\nof a:b, c"), "100 %25%0Aof a:b, c");
        assert_eq!(property("a,b:c%"), "a%2Cb%3Ac%25");
    }
}
