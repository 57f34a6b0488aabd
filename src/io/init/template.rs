//! Texts as templates that give just those texts.

/// A text as a template: what the language would take for its own is marked as plain text.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n');
    if let Some(rest) = text.strip_prefix('\u{feff}') {
        // The reader of files takes a byte order mark away.
        out.push_str("{{ \"\\ufeff\" }}");
        lines = rest.split_inclusive('\n');
    }
    for line in lines {
        escape_line(line, &mut out);
    }
    out
}

fn escape_line(line: &str, out: &mut String) {
    let opens = |at: usize| matches!(line.get(at..at + 2), Some("{{" | "{%" | "{#"));
    let nul = line.contains('\0');
    let first = line.match_indices('{').map(|(at, _)| at).find(|at| opens(*at));
    let Some(first) = first.or(nul.then_some(0)) else { return out.push_str(line) };
    // A brace in front of the mark would be read together with the mark's own.
    let first = line[..first].trim_end_matches('{').len();
    if nul || line.contains("endraw") || line[..first].ends_with('{') {
        return spell(line, out);
    }
    let body = line.trim_end_matches(['\n', '\r']);
    let close = ["}}", "%}", "#}"].iter().filter_map(|close| body.rfind(close)).max();
    let end = close.map_or(body.len(), |at| at + 2).max(first);
    // What stands behind must not begin something new.
    let rest = &line[end..];
    if rest.contains("{{") || rest.contains("{%") || rest.contains("{#") || line[first..end].ends_with('{') {
        return spell(line, out);
    }
    out.push_str(&line[..first]);
    out.push_str("{% raw %}");
    out.push_str(&line[first..end]);
    out.push_str("{% endraw %}");
    out.push_str(rest);
}

/// Spells every brace and every NUL of a line.
fn spell(line: &str, out: &mut String) {
    for c in line.chars() {
        match c {
            '{' => out.push_str("{{ \"{\" }}"),
            '\0' => out.push_str("{{ \"\\u0000\" }}"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::core::source::environment;

    fn render(template: &str) -> String {
        environment().render_str(template, ()).unwrap_or_else(|error| panic!("{error} in {template}"))
    }

    #[test]
    fn what_looks_like_a_template_is_marked() {
        assert_eq!(escape("a {b} c\n"), "a {b} c\n");
        assert_eq!(escape("Hi {{ name }}!\nnext"), "Hi {% raw %}{{ name }}{% endraw %}!\nnext");
        assert_eq!(escape("{% if x %}\r\n"), "{% raw %}{% if x %}{% endraw %}\r\n");
    }

    #[test]
    fn odd_texts_render_as_they_are() {
        for text in [
            "{{",
            "{{{ x }}}",
            "{%",
            "{#",
            "#}",
            "}}",
            "{{ x",
            "{ {{ x }}",
            "{% raw %}{{ x }}{% endraw %}",
            "{%- endraw -%}",
            "a\0b {{",
            "\u{feff}a",
            "{{ a }} { {{",
            "{% raw %}",
            "a {{ b }}{",
            "{{ \"%}\" }}",
            "{#\n#}",
            "{{\n}}",
            "x {{ a }} {# b\nc",
            "",
        ] {
            assert_eq!(render(&escape(text)), text, "{:?} as {:?}", text, escape(text));
        }
    }

    proptest! {
        #[test]
        fn any_text_renders_as_it_is(text in "[{}%#\\- a\\n\\r\"'\\\\\\x00\\u{feff}]{0,24}|(\\{|\\}|%|#|raw|endraw| |-|\\n){0,12}") {
            prop_assert_eq!(render(&escape(&text)), text);
        }
    }
}
