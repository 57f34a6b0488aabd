//! Themes: a style for each role on the screen, read from YAML. Roles fall back (`border.focus` to `border` to `text`),
//! themes extend one another, and colours are approximated down to what the terminal has.

mod color;

use std::collections::BTreeMap;

use ratatui::style::{Modifier, Style};
use serde::Deserialize;

pub use color::Depth;
pub(super) use color::of_palette as palette_rgb;

/// What a piece of the screen is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Ordinary text.
    Text,
    /// Text of less weight.
    Dim,
    /// The name in the title line.
    Title,
    /// A label in front of a value.
    Label,
    /// The heads of columns.
    Head,
    /// A border.
    Border,
    /// The border of the focused pane.
    BorderFocus,
    /// The title of a pane.
    BoxTitle,
    /// The title of the focused pane.
    BoxTitleFocus,
    /// The selected row of the focused pane or list.
    Selected,
    /// A key in the footer and the help.
    Key,
    /// Nothing is lost.
    Good,
    /// Lost, stale, broken.
    Bad,
    /// Superseded, estimated.
    Warn,
    /// Other bytes than in the call before.
    Changed,
    /// Text that a layer put into a message.
    Injected,
    /// A call that was not sent yet.
    Forecast,
    /// The bars of shares.
    Bar,
    /// Something that was found.
    Search,
    /// The hit that is looked at.
    SearchCurrent,
    /// What is being typed.
    Input,
    /// What a presenter says of what is shown.
    Caption,
    /// A character that nobody would see, written out.
    Hidden,
    /// The heading of a text; the first level is [`Role::SyntaxTitle`].
    SyntaxHeading,
    /// The heading of the first level.
    SyntaxTitle,
    /// Emphasis.
    SyntaxEmphasis,
    /// Strong emphasis.
    SyntaxStrong,
    /// Code in a text.
    SyntaxCode,
    /// The text of a link.
    SyntaxLink,
    /// What is quoted.
    SyntaxQuote,
    /// A tag.
    SyntaxTag,
    /// A key of data, an attribute.
    SyntaxKey,
    /// A string.
    SyntaxString,
    /// A number.
    SyntaxNumber,
    /// A word with a meaning in its language.
    SyntaxKeyword,
    /// A comment.
    SyntaxComment,
    /// Signs that only mark up what they stand at.
    SyntaxMark,
    /// What a template writes a value for.
    SyntaxPlaceholder,
    /// A line of the old text only.
    DiffOld,
    /// What of it is not in the new one.
    DiffOldWord,
    /// A line of the new text only.
    DiffNew,
    /// What of it was not in the old one.
    DiffNewWord,
}

/// Every role with its name in theme files.
const ROLES: [(Role, &str); 42] = [
    (Role::Text, "text"),
    (Role::Dim, "dim"),
    (Role::Title, "title"),
    (Role::Label, "label"),
    (Role::Head, "head"),
    (Role::Border, "border"),
    (Role::BorderFocus, "border.focus"),
    (Role::BoxTitle, "box.title"),
    (Role::BoxTitleFocus, "box.title.focus"),
    (Role::Selected, "selected"),
    (Role::Key, "key"),
    (Role::Good, "good"),
    (Role::Bad, "bad"),
    (Role::Warn, "warn"),
    (Role::Changed, "changed"),
    (Role::Injected, "injected"),
    (Role::Forecast, "forecast"),
    (Role::Bar, "bar"),
    (Role::Search, "search"),
    (Role::SearchCurrent, "search.current"),
    (Role::Input, "input"),
    (Role::Caption, "caption"),
    (Role::Hidden, "hidden"),
    (Role::SyntaxHeading, "syntax.heading"),
    (Role::SyntaxTitle, "syntax.heading.title"),
    (Role::SyntaxEmphasis, "syntax.emphasis"),
    (Role::SyntaxStrong, "syntax.strong"),
    (Role::SyntaxCode, "syntax.code"),
    (Role::SyntaxLink, "syntax.link"),
    (Role::SyntaxQuote, "syntax.quote"),
    (Role::SyntaxTag, "syntax.tag"),
    (Role::SyntaxKey, "syntax.key"),
    (Role::SyntaxString, "syntax.string"),
    (Role::SyntaxNumber, "syntax.number"),
    (Role::SyntaxKeyword, "syntax.keyword"),
    (Role::SyntaxComment, "syntax.comment"),
    (Role::SyntaxMark, "syntax.mark"),
    (Role::SyntaxPlaceholder, "syntax.placeholder"),
    (Role::DiffOld, "diff.old"),
    (Role::DiffOldWord, "diff.old.word"),
    (Role::DiffNew, "diff.new"),
    (Role::DiffNewWord, "diff.new.word"),
];

/// The themes that are built in: name, file.
pub const BUILT_IN: [(&str, &str); 4] = [
    ("ansi", include_str!("../../../themes/ansi.yaml")),
    ("mono", include_str!("../../../themes/mono.yaml")),
    ("dark", include_str!("../../../themes/dark.yaml")),
    ("light", include_str!("../../../themes/light.yaml")),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThemeFile {
    name: String,
    extends: Option<String>,
    #[serde(default)]
    roles: BTreeMap<String, String>,
}

/// A style for each role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    name: String,
    styles: [Style; ROLES.len()],
}

impl Theme {
    /// A built-in theme; none when there is no theme of this name.
    #[must_use]
    pub fn built_in(name: &str, depth: Depth) -> Option<Theme> {
        let (_, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        // That they parse is tested.
        Theme::parse(text, depth).ok()
    }

    /// The theme to start with. `chosen` is what the user's settings name; `env` looks a variable of the environment up.
    /// `NO_COLOR` (see <https://no-color.org>) and terminals without colours get `mono`, all others `ansi`.
    #[must_use]
    pub fn choose(chosen: Option<&str>, env: impl Fn(&str) -> Option<String>) -> Theme {
        let depth = Depth::detect(&env);
        let name = if depth == Depth::None { "mono" } else { chosen.unwrap_or("ansi") };
        Theme::built_in(name, depth).or_else(|| Theme::built_in("ansi", depth)).unwrap_or_else(Theme::plain)
    }

    /// A theme that styles nothing.
    #[must_use]
    pub fn plain() -> Theme {
        Theme { name: "plain".to_owned(), styles: [Style::new(); ROLES.len()] }
    }

    /// Reads a theme file.
    ///
    /// # Errors
    ///
    /// One sentence with what cannot be read.
    pub fn parse(text: &str, depth: Depth) -> Result<Theme, String> {
        let (name, roles) = collect(text, 0)?;
        for role in roles.keys() {
            if !ROLES.iter().any(|(_, known)| known == role) {
                return Err(format!("theme {name}: unknown role `{role}`"));
            }
        }
        let mut theme = Theme { name, ..Theme::plain() };
        for (index, (_, role)) in ROLES.iter().enumerate() {
            if let Some((role, value)) = fall_back(role, &roles) {
                let style = style(value, depth);
                theme.styles[index] =
                    style.map_err(|what| format!("theme {}: {role}: {what}", theme.name))?;
            }
        }
        Ok(theme)
    }

    /// The name of the theme.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The styles of all roles.
    pub(super) fn styles(&self) -> impl Iterator<Item = Style> {
        self.styles.into_iter()
    }

    /// The style of a role.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }
}

/// The theme's roles with those of the themes it extends.
fn collect(text: &str, level: usize) -> Result<(String, BTreeMap<String, String>), String> {
    let file: ThemeFile = serde_yaml::from_str(text).map_err(|error| format!("theme: {error}"))?;
    let mut roles = BTreeMap::new();
    if let Some(parent) = &file.extends {
        let known = BUILT_IN.iter().find(|(name, _)| name == parent).filter(|_| level < 4);
        let (_, text) = known
            .ok_or_else(|| format!("theme {}: it extends `{parent}`, which is not built in", file.name))?;
        roles = collect(text, level + 1)?.1;
    }
    roles.extend(file.roles);
    Ok((file.name, roles))
}

/// The value of a role, or of the nearest role above it.
fn fall_back<'a>(role: &'a str, roles: &'a BTreeMap<String, String>) -> Option<(&'a str, &'a str)> {
    let mut role = role;
    loop {
        if let Some(value) = roles.get(role) {
            return Some((role, value));
        }
        role = match role.rfind('.') {
            Some(dot) => &role[..dot],
            None if role == "text" => return None,
            None => "text",
        };
    }
}

/// Reads `cyan on black bold`.
fn style(text: &str, depth: Depth) -> Result<Style, String> {
    let mut style = Style::new();
    let mut background = false;
    for word in text.split_whitespace() {
        let modifier = match word {
            "on" => {
                background = true;
                continue;
            }
            "bold" => Modifier::BOLD,
            "dim" => Modifier::DIM,
            "italic" => Modifier::ITALIC,
            "underlined" => Modifier::UNDERLINED,
            "reversed" => Modifier::REVERSED,
            color => {
                let color = color::parse(color).ok_or_else(|| format!("`{color}` is no colour"))?;
                if let Some(color) = depth.approximate(color) {
                    style = if background { style.bg(color) } else { style.fg(color) };
                }
                background = false;
                continue;
            }
        };
        style = style.add_modifier(modifier);
    }
    Ok(style)
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::*;

    #[test]
    fn built_in_themes_parse_and_mono_has_no_colour() {
        for (name, text) in BUILT_IN {
            let theme = Theme::parse(text, Depth::True).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(theme.name(), name);
            for (role, key) in ROLES {
                let style = theme.style(role);
                let colours =
                    [style.fg, style.bg].into_iter().flatten().filter(|c| *c != Color::Reset).count();
                assert!(name != "mono" || colours == 0, "{key}");
            }
            assert_ne!(theme.style(Role::Selected), theme.style(Role::Text), "{name}");
        }
        for (index, (role, _)) in ROLES.iter().enumerate() {
            assert_eq!(*role as usize, index);
        }
    }

    #[test]
    fn roles_fall_back() {
        let theme =
            Theme::parse("name: x\nroles: { text: red, border: blue bold }", Depth::Sixteen).expect("parses");
        assert_eq!(theme.style(Role::BorderFocus), Style::new().fg(Color::Blue).add_modifier(Modifier::BOLD));
        assert_eq!(theme.style(Role::SearchCurrent).fg, Some(Color::Red));
    }

    #[test]
    fn errors_name_what_is_wrong() {
        for (text, want) in [
            ("name: x\nroles: { txt: red }", "theme x: unknown role `txt`"),
            ("name: x\nroles: { text: rad }", "theme x: text: `rad` is no colour"),
            ("name: x\nextends: y", "theme x: it extends `y`, which is not built in"),
        ] {
            assert_eq!(Theme::parse(text, Depth::True).expect_err(text), want);
        }
    }

    #[test]
    fn the_environment_chooses() {
        let with = |pairs: &'static [(&str, &str)]| {
            move |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(Theme::choose(None, with(&[("TERM", "xterm-256color")])).name(), "ansi");
        assert_eq!(Theme::choose(Some("dark"), with(&[("TERM", "xterm"), ("NO_COLOR", "1")])).name(), "mono");
        assert_eq!(Theme::choose(Some("dark"), with(&[("TERM", "xterm"), ("NO_COLOR", "")])).name(), "dark");
        assert_eq!(Theme::choose(Some("nope"), with(&[("TERM", "xterm")])).name(), "ansi");
        assert_eq!(Theme::choose(None, with(&[("TERM", "dumb")])).name(), "mono");
    }
}
