//! Other languages, by syntect's grammars; their scopes become our classes.

use std::ops::Range;
use std::str::FromStr;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::Class;

/// Longer lines are passed over: the time for a line grows faster than its length.
const LONGEST: usize = 4 * 1024;

/// What scopes are for us; the first that fits the innermost scope counts.
const SCOPES: [(&str, Class); 21] = [
    ("comment", Class::Comment),
    ("punctuation.definition.comment", Class::Comment),
    ("punctuation.definition.string", Class::String),
    ("punctuation.definition.tag", Class::Tag),
    ("punctuation", Class::Mark),
    ("constant.numeric", Class::Number),
    ("constant.character.escape", Class::Number),
    ("constant.language", Class::Keyword),
    ("constant", Class::Number),
    ("entity.name.tag.yaml", Class::Key),
    ("entity.name.tag", Class::Tag),
    ("entity.other.attribute-name", Class::Key),
    ("entity.name", Class::Strong),
    ("keyword.operator", Class::Mark),
    ("keyword", Class::Keyword),
    ("storage", Class::Keyword),
    ("variable.language", Class::Keyword),
    ("markup.heading", Class::Heading),
    ("markup.bold", Class::Strong),
    ("support.function", Class::Key),
    ("string", Class::String),
];

/// The grammars. Loading them takes some ten milliseconds and some ten megabytes, so that it is done when a text asks for one.
pub(super) struct Syntaxes {
    set: SyntaxSet,
    scopes: Vec<(Scope, Class)>,
}

impl Syntaxes {
    pub(super) fn load() -> Syntaxes {
        let scopes = SCOPES.iter().filter_map(|(scope, class)| Some((Scope::from_str(scope).ok()?, *class)));
        Syntaxes { set: SyntaxSet::load_defaults_newlines(), scopes: scopes.collect() }
    }

    /// The grammar behind a token; none for a language that nobody knows.
    pub(super) fn find(&self, token: &str) -> Option<&SyntaxReference> {
        // Close enough, and better than nothing.
        let token = match token {
            "ts" | "tsx" | "typescript" | "jsx" | "mjs" | "cjs" => "js",
            "zsh" | "shell" | "console" | "shell-session" => "sh",
            "svg" | "xsd" | "xslt" => "xml",
            other => other,
        };
        self.set.find_syntax_by_token(token).filter(|syntax| syntax.name != "Plain Text")
    }

    /// A reader at the beginning of a text.
    pub(super) fn reader(&self, syntax: &SyntaxReference) -> Reader {
        Reader { state: ParseState::new(syntax), stack: ScopeStack::new() }
    }

    fn class(&self, stack: &ScopeStack) -> Option<Class> {
        let of = |scope: &Scope| {
            let found = self.scopes.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope));
            found.map(|(_, class)| *class)
        };
        stack.as_slice().iter().rev().find_map(of)
    }
}

/// How far a text was read; a copy of it goes on from there.
#[derive(Clone)]
pub(super) struct Reader {
    state: ParseState,
    stack: ScopeStack,
}

impl Reader {
    /// Reads a line, its line feed included, that begins at byte `base`; adds its spans.
    pub(super) fn line(
        &mut self,
        syntaxes: &Syntaxes,
        line: &str,
        base: usize,
        spans: &mut Vec<(Range<usize>, Class)>,
    ) {
        if line.len() > LONGEST {
            return;
        }
        // The grammars expect a line feed at the end of every line.
        let ended;
        let whole = if line.ends_with('\n') {
            line
        } else {
            ended = format!("{line}\n");
            &ended
        };
        let Ok(changes) = self.state.parse_line(whole, &syntaxes.set) else { return };
        let own = line.trim_end_matches(['\n', '\r']).len();
        let mut at = 0;
        let mut put = |range: Range<usize>, class: Option<Class>| {
            let end = range.end.min(own);
            let Some(class) = class.filter(|_| range.start < end) else { return };
            let range = base + range.start..base + end;
            match spans.last_mut() {
                Some((last, same)) if last.end == range.start && *same == class => last.end = range.end,
                _ => spans.push((range, class)),
            }
        };
        for (byte, change) in changes {
            if byte > at {
                put(at..byte, syntaxes.class(&self.stack));
                at = byte;
            }
            if self.stack.apply(&change).is_err() {
                // A grammar that closes what it never opened: what follows is read afresh.
                self.stack = ScopeStack::new();
            }
        }
        put(at..own, syntaxes.class(&self.stack));
    }
}
