//! Colours of what the commands print: none unless a terminal reads it, or somebody asked for them.

use std::ffi::OsString;

use clap::ColorChoice;

use super::args::ColorArg;
use super::settings::Environment;
use crate::core::diagnostic::{Diagnostic, Severity};
use crate::core::text::hidden;

/// Whether a stream gets colours: as the flag says, else where a terminal reads it and nobody asked for none.
#[must_use]
pub fn wanted(flag: Option<ColorArg>, is_terminal: bool, environment: &Environment) -> bool {
    match flag {
        Some(ColorArg::Never) => false,
        None | Some(ColorArg::Auto) => {
            is_terminal && environment.get("NO_COLOR").is_none() && environment.get("TERM") != Some("dumb")
        }
        Some(_) => true,
    }
}

/// The same for help and usage errors, which are printed before the command line is understood.
pub(super) fn of_help(args: &[OsString]) -> ColorChoice {
    let word = args.iter().enumerate().find_map(|(index, arg)| {
        let arg = arg.to_str()?;
        match arg.strip_prefix("--color") {
            Some("") => args.get(index + 1)?.to_str(),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        }
    });
    match word {
        Some("never") => ColorChoice::Never,
        Some("always" | "truecolor" | "256" | "16") => ColorChoice::Always,
        // What is no word of the flag is about to be told as that, and asks for no colours.
        _ => ColorChoice::Auto,
    }
}

/// A text in a style, given by the parameters of its escape sequence.
pub(super) fn styled(text: &str, codes: &str) -> String {
    if codes.is_empty() { text.to_owned() } else { format!("\x1b[{codes}m{text}\x1b[0m") }
}

/// A message with its word, its place and its hint in colours.
pub(super) fn diagnostic(diagnostic: &Diagnostic, colored: bool) -> String {
    let text = diagnostic.to_string();
    let text = hidden::escaped(&text).into_owned();
    if !colored {
        return text;
    }
    let word = diagnostic.severity.word();
    let code = match diagnostic.severity {
        Severity::Error => "1;31",
        Severity::Warning => "1;33",
        Severity::Note => "1;36",
    };
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let mut out = format!("{}{}", styled(word, code), styled(first.strip_prefix(word).unwrap_or(first), "1"));
    for line in lines {
        out.push('\n');
        // The gutter stands in front of the first bar, arrow or `=`.
        let mark = ["--> ", "| ", "= hint:"].iter().filter_map(|mark| Some((line.find(mark)?, *mark))).min();
        match mark {
            Some((at, mark)) => {
                let (gutter, rest) = line.split_at(at + mark.trim_end().len());
                out.push_str(&styled(gutter, "36"));
                out.push_str(&if rest.trim() == "^" { styled(rest, code) } else { rest.to_owned() });
            }
            None => out.push_str(&styled(line, "36")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::diagnostic::Position;

    #[test]
    fn the_words_stay_whatever_the_colours() {
        let text = "layers:\n  - { id: a | b, refesh: call }\n";
        let problem = Diagnostic::error("unknown key `refesh` in a layer")
            .at("bench.yaml", text, Position { line: 2, column: 17 })
            .hint("did you mean `refresh`?");
        let colored = diagnostic(&problem, true);
        assert!(colored.starts_with("\x1b[1;31merror\x1b[0m\x1b[1m: unknown key"), "{colored:?}");
        let mut plain = String::new();
        let mut rest = colored.as_str();
        while let Some((before, after)) = rest.split_once('\x1b') {
            plain.push_str(before);
            rest = after.split_once('m').expect("the end of the sequence").1;
        }
        plain.push_str(rest);
        assert_eq!(plain, diagnostic(&problem, false));
    }

    #[test]
    fn the_flag_wins_over_what_reads_it() {
        let environment = Environment::default();
        assert!(wanted(None, true, &environment) && !wanted(None, false, &environment));
        assert!(wanted(Some(ColorArg::Always), false, &environment));
        assert!(!wanted(Some(ColorArg::Never), true, &environment));
    }

    #[test]
    fn help_follows_the_flag_wherever_it_stands() {
        let of = |args: &[&str]| of_help(&args.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of(&["plywood", "--help"]), ColorChoice::Auto);
        assert_eq!(of(&["plywood", "layers", "--color", "never"]), ColorChoice::Never);
        assert_eq!(of(&["plywood", "--color=always", "--help"]), ColorChoice::Always);
    }
}
