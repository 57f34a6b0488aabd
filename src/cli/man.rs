//! `plywood man`.

use clap::CommandFactory;
use clap_mangen::Man;

use super::args::Cli;
use super::output::{Out, Outcome, Result};

/// Prints the manual page, with a section for each command.
pub(super) fn run(out: &mut Out<'_>) -> Result {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    Man::new(command.clone()).render(&mut page)?;
    page.extend_from_slice(b".SH COMMANDS\n");
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let usage = sub.clone().render_usage().to_string();
        page.extend_from_slice(format!(".SS {}\n", usage.trim_start_matches("Usage: ")).as_bytes());
        let man = Man::new(sub.clone());
        let mut section = Vec::new();
        man.render_description_section(&mut section)?;
        man.render_options_section(&mut section)?;
        // Each part comes with a heading and a preamble of its own, which stand at the head of the page already.
        let section = String::from_utf8_lossy(&section);
        for line in
            section.lines().filter(|line| ![".SH", ".ie", ".el"].iter().any(|skip| line.starts_with(skip)))
        {
            page.extend_from_slice(line.as_bytes());
            page.push(b'\n');
        }
    }
    out.text(&String::from_utf8_lossy(&page))?;
    Ok(Outcome::Done)
}
