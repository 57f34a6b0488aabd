//! The YAML library's errors in our words: what stands there, and what to write instead.

use serde_yaml::granit_parser::{ErrorKind as E, ScanError};

use crate::core::diagnostic::{Diagnostic, Position};
use crate::core::fact::Name;

const INDENT: &str = "lines of one map or list start in the same column";
const QUOTES: &str = "a text with `: `, ` #` or a special first character in it needs quotes";

pub(super) fn diagnostic(error: &ScanError, file: &Name, text: &str) -> Diagnostic {
    let byte = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
    let mut at = Position::of(text, byte);
    // A bracket that is not closed shows only where something no longer fits: it is told where it opens.
    if brackets(error.kind())
        && let Some((open, sign)) = opened(text, byte)
        && Position::of(text, open).line < at.line
    {
        let (close, what) = if sign == '{' { ('}', "map") } else { (']', "list") };
        return Diagnostic::error(format!("the `{sign}` here is not closed"))
            .at(file.clone(), text, Position::of(text, open))
            .hint(format!(
                "a {what} that starts with `{sign}` ends with `{close}`, its parts are separated by `,`"
            ));
    }
    let (message, hint) = match error.kind() {
        E::TabInBlockIndentation
        | E::TabInIndentation
        | E::TabNotAllowed
        | E::TabInPlainScalar
        | E::TabAtBlockScalarStart => {
            at = tab(text, at);
            ("a tab is used for indentation".to_owned(), "YAML is indented with spaces")
        }
        E::MappingValueNotAllowed => mapping_value(text, at),
        E::ExpectedBlockMappingKey => ("this line fits no map around it".to_owned(), INDENT),
        E::ExpectedBlockSequenceEntry => {
            ("an item of a list, which starts with `- `, was expected here".to_owned(), INDENT)
        }
        E::InvalidIndentation
        | E::InvalidBlockScalarIndent
        | E::InvalidFlowScalarIndent
        | E::InvalidQuotedScalarIndent => ("this line is indented wrongly".to_owned(), INDENT),
        E::ExpectedFlowMappingSeparator
        | E::UnexpectedEofFlowMapping
        | E::UnexpectedEofImplicitFlowMapping => (
            "a `,` or the closing `}` was expected here".to_owned(),
            "a map that starts with `{` ends with `}`, its entries are separated by `,`",
        ),
        E::ExpectedFlowSequenceSeparator | E::UnexpectedEofFlowSequence => (
            "a `,` or the closing `]` was expected here".to_owned(),
            "a list that starts with `[` ends with `]`, its items are separated by `,`",
        ),
        E::InvalidColonPlacement | E::FlowMappingValueAdjacentCollection => (
            "a `:` stands where no key can be".to_owned(),
            "a `[` or `{` before it may not be closed; a text with `: ` in it needs quotes",
        ),
        E::MismatchedFlowCollectionEnd { open, close } => (
            format!("the `{open}` here is closed by `{close}`"),
            "close brackets in the order in which they opened",
        ),
        E::UnclosedFlowCollection { open } => {
            (format!("the `{open}` here is not closed"), "close it before the next key")
        }
        E::MisplacedFlowCollectionEnd => ("a closing bracket that was not opened".to_owned(), QUOTES),
        E::UnclosedQuotedScalar | E::DocumentIndicatorInQuotedScalar => {
            ("the quote that starts here is not closed".to_owned(), "close it with the same quote")
        }
        E::InvalidTrailingSingleQuotedScalar => {
            ("text behind a closing quote".to_owned(), "within single quotes, write a quote twice: 'it''s'")
        }
        E::InvalidTrailingDoubleQuotedScalar => {
            ("text behind a closing quote".to_owned(), "within double quotes, write a quote as \\\"")
        }
        E::UnknownQuotedScalarEscape => (
            "an escape that YAML does not know".to_owned(),
            "write a backslash as \\\\, or use single quotes, which know no escapes",
        ),
        E::InvalidQuotedScalarHexEscape
        | E::InvalidLowSurrogateHexEscape
        | E::InvalidLowSurrogate
        | E::MissingLowSurrogate
        | E::UnpairedLowSurrogate
        | E::InvalidUnicodeEscape => (
            "an escape that stands for no character".to_owned(),
            "write the character itself; files are UTF-8",
        ),
        E::UnexpectedCharacter { character } if character.is_control() => (
            format!("the control character U+{:04X} cannot stand here", *character as u32),
            "remove it, or write it as an escape within double quotes",
        ),
        E::UnexpectedCharacter { character } => {
            (format!("a text cannot start with `{character}` here"), "put the text in quotes")
        }
        E::PlainScalarStartsWithDashFlowIndicator => {
            ("a text cannot start with `-` and a bracket".to_owned(), "put the text in quotes")
        }
        E::UnknownAnchor => (
            "this alias refers to nothing".to_owned(),
            "a text that starts with `*` needs quotes; an alias needs an anchor (`&name`) before it",
        ),
        E::MissingAnchorOrAliasName => ("a `&` or `*` without a name".to_owned(), "put the text in quotes"),
        E::BlockEntryInFlowCollection | E::BlockSequenceEntryNotAllowed | E::InvalidBlockEntryWhitespace => (
            "a `- ` stands where no list can start".to_owned(),
            "start the list in a line of its own, or write it as `[a, b]`",
        ),
        E::MappingKeyNotAllowed | E::SimpleKeyExpected | E::InvalidSimpleKey => {
            ("a key was expected here, followed by `: `".to_owned(), INDENT)
        }
        E::CommentNotSeparated | E::CommentInterceptedScalar => (
            "a comment interrupts a text".to_owned(),
            "put the comment in a line of its own, or the text in quotes",
        ),
        E::InvalidBlockScalarHeader | E::ZeroBlockScalarIndent => {
            ("text behind `|` or `>`".to_owned(), "start the text in the next line, indented")
        }
        E::InvalidMappingValueWhitespace | E::ExpectedWhitespace => {
            ("a space was expected here".to_owned(), QUOTES)
        }
        E::RecursionLimitExceeded => {
            ("maps and lists are nested too deeply".to_owned(), "100 levels are read")
        }
        E::BomInsideDocument => {
            ("a byte order mark inside the file".to_owned(), "remove it: it is an invisible character")
        }
        E::InvalidDocumentEnd => {
            ("text behind the end of the document (`...`)".to_owned(), "remove the line `...`")
        }
        E::ExpectedDocumentStart | E::MissingDocumentEndBeforeDirective | E::DirectiveDisallowed => {
            ("text that belongs to no map or list".to_owned(), INDENT)
        }
        E::UndeclaredTagHandle | E::ExpectedTagBang | E::InvalidTagTerminator | E::MissingTagUri => {
            ("tags are not used in these files".to_owned(), "a text that starts with `!` needs quotes")
        }
        E::UnexpectedEof | E::UnexpectedEofBlockMapping | E::UnexpectedEofBlockSequence => {
            ("the file ends in the middle of something".to_owned(), "a bracket or a quote may be open")
        }
        _ => ("this cannot be read as YAML".to_owned(), QUOTES),
    };
    Diagnostic::error(message).at(file.clone(), text, at).hint(hint)
}

/// True for what a bracket that is not closed may come out as.
fn brackets(kind: &E) -> bool {
    matches!(
        kind,
        E::ExpectedFlowMappingSeparator
            | E::UnexpectedEofFlowMapping
            | E::UnexpectedEofImplicitFlowMapping
            | E::ExpectedFlowSequenceSeparator
            | E::UnexpectedEofFlowSequence
            | E::InvalidColonPlacement
            | E::FlowMappingValueAdjacentCollection
            | E::MappingValueNotAllowed
            | E::MismatchedFlowCollectionEnd { .. }
            | E::UnclosedFlowCollection { .. }
            | E::InvalidIndentation
            | E::BlockEntryInFlowCollection
            | E::UnexpectedEof
    )
}

/// A text with spaces in the place of what stands in texts of several lines (`|`, `>`), byte for byte.
fn without_blocks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut block: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end();
        let indent = body.len() - body.trim_start().len();
        if block.is_some_and(|block| body.is_empty() || indent > block) {
            out.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            continue;
        }
        let header = body.trim_end_matches(|c: char| c == '+' || c == '-' || c.is_ascii_digit());
        let header = header.strip_suffix(['|', '>']).is_some_and(|rest| rest.ends_with([' ', '\t']));
        block = header.then_some(indent);
        out.push_str(line);
    }
    out
}

/// The innermost bracket that is open in front of a byte.
fn opened(text: &str, byte: usize) -> Option<(usize, char)> {
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut quote: Option<char> = None;
    // A bracket opens only where a value can start: else it is a part of a text.
    let mut starts = true;
    let mut before = '\n';
    let mut comment = false;
    let text = without_blocks(&text[..byte]);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\n' {
            comment = false;
        }
        match (quote, c) {
            _ if comment => {}
            (Some('"'), '\\') => drop(chars.next()),
            (Some(sign), c) if sign == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if starts => quote = Some(c),
            (None, '#') if before.is_whitespace() => comment = true,
            (None, '{' | '[') if starts => open.push((at, c)),
            (None, '}') if open.last().is_some_and(|(_, sign)| *sign == '{') => drop(open.pop()),
            (None, ']') if open.last().is_some_and(|(_, sign)| *sign == '[') => drop(open.pop()),
            _ => {}
        }
        let value = matches!(c, ':' | '-' | ',' | '{' | '[' | '?' | '\n');
        starts = quote.is_none() && (value || c.is_whitespace() && starts);
        before = c;
    }
    open.pop()
}

/// The tab itself: the library reports the token around it.
fn tab(text: &str, at: Position) -> Position {
    text.split('\n')
        .enumerate()
        .skip(at.line as usize - 1)
        .find_map(|(index, line)| {
            let column = line.chars().take_while(|c| c.is_whitespace()).position(|c| c == '\t')?;
            Some(Position { line: index as u32 + 1, column: column as u32 + 1 })
        })
        .unwrap_or(at)
}

/// `a: b: c`, or a key that is indented deeper than the line before it, or a key behind a lone word.
fn mapping_value(text: &str, at: Position) -> (String, &'static str) {
    let mut lines = text.split('\n').skip((at.line as usize).saturating_sub(2));
    let before = if at.line > 1 { lines.next().unwrap_or("") } else { "" };
    let line = lines.next().unwrap_or("");
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
    let head: String = line.chars().take(at.column as usize - 1).collect();
    if head.contains(": ") {
        ("a second `: ` in one line".to_owned(), "a text with `: ` in it needs quotes")
    } else if indent(line) > indent(before) && !before.trim().is_empty() {
        ("this line is indented deeper than the map it belongs to".to_owned(), INDENT)
    } else {
        ("a key cannot stand here".to_owned(), "the line before it may lack its `:`, or a quote may be open")
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    #[test]
    fn a_bracket_that_is_not_closed_is_told_where_it_opens() {
        for (text, line, sign) in [
            ("a: 1\nb: { c: 1,\n  d: 2\ne: 3\nf: 4\n", 2, '{'),
            ("a: [1, 2\nb: 3\nc: 4\n", 1, '['),
            ("t: |\n  { not a map\nl:\n  - { a: 1, b: [x, y }\n  - { a: 2 }\n", 4, '['),
            ("a: \"{ \"\nb: [ x,\n  # ] is a comment\n  y\nc: 1\n", 2, '['),
        ] {
            let problems = parse(&"b.yaml".into(), text).expect_err("it is not YAML");
            let problem = &problems[0];
            assert_eq!(problem.at.map(|at| at.line), Some(line), "{text}\n{problem}");
            assert!(problem.message.contains(sign), "{problem}");
        }
    }
}
