//! Themes: a style for each role on the screen, read from YAML. Roles fall back (`border.focus` to `border` to `text`),
//! themes inherit from one another, and colours are approximated down to what the terminal has.

pub mod background;
mod color;
mod file;

use std::sync::Arc;

use ratatui::style::Style;

pub use color::Depth;
pub(super) use color::of_palette as palette_rgb;
pub use file::{Loaded, about, load};

use crate::io::settings::themes::{self, ThemeFiles};

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

/// A style for each role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    name: Arc<str>,
    styles: [Style; ROLES.len()],
}

impl Theme {
    /// A built-in theme; none when there is no theme of this name.
    #[must_use]
    pub fn built_in(name: &str, depth: Depth) -> Option<Theme> {
        let files = ThemeFiles::default();
        // That they can be read is tested.
        themes::BUILT_IN.iter().find(|(known, _)| *known == name)?;
        load(&files, name, depth).ok().map(|loaded| loaded.theme)
    }

    /// A theme that styles nothing.
    #[must_use]
    pub fn plain() -> Theme {
        Theme { name: "plain".into(), styles: [Style::new(); ROLES.len()] }
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

    /// Every role with its name and its style, in the order of the theme files.
    pub fn roles(&self) -> impl Iterator<Item = (Role, &'static str, Style)> + '_ {
        ROLES.iter().map(|(role, name)| (*role, *name, self.style(*role)))
    }
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::*;

    #[test]
    fn built_in_themes_are_read_and_mono_has_no_colour() {
        for (name, _) in themes::BUILT_IN {
            let theme = load(&ThemeFiles::default(), name, Depth::True)
                .unwrap_or_else(|problems| panic!("{}", problems[0]))
                .theme;
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
        assert_eq!(Theme::built_in("nope", Depth::True), None);
    }

    /// Roles that are no text: lines and bars.
    const DRAWN: [Role; 3] = [Role::Border, Role::BorderFocus, Role::Bar];

    fn contrast(a: Color, b: Color) -> f64 {
        let rgb = |color| color::rgb(color).expect("a colour with a fixed value");
        color::contrast(rgb(a), rgb(b))
    }

    #[test]
    fn every_text_is_readable_in_dark_and_light() {
        for name in ["dark", "light"] {
            for depth in [Depth::True, Depth::Palette] {
                let theme = Theme::built_in(name, depth).expect("a theme");
                let text = theme.style(Role::Text);
                let ground = text.bg.expect("it paints its own background");
                let selected = theme.style(Role::Selected);
                for (role, key, style) in theme.roles() {
                    let front = style.fg.or(text.fg).expect("a colour");
                    let least = if DRAWN.contains(&role) { 3.0 } else { 4.5 };
                    let behind = style.bg.unwrap_or(ground);
                    let ratio = contrast(front, behind);
                    assert!(ratio >= least, "{name}, {depth:?}: {key} has {ratio:.2}");
                    // What stands in the selected row keeps its colours, unless the row has one for all.
                    let line = matches!(role, Role::Border | Role::BorderFocus);
                    if style.bg.is_none() && selected.fg.is_none() && !line {
                        let ratio = contrast(front, selected.bg.expect("a background of its own"));
                        assert!(
                            ratio >= least,
                            "{name}, {depth:?}: {key} has {ratio:.2} in the selected row"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn with_sixteen_colours_no_text_has_the_colour_of_its_background() {
        for (name, _) in themes::BUILT_IN {
            let theme = Theme::built_in(name, Depth::Sixteen).expect("a theme");
            let ground = theme.style(Role::Text);
            for (_, key, style) in theme.roles() {
                let front = style.fg.or(ground.fg);
                if let Some(behind) = style.bg.or(ground.bg) {
                    assert!(front != Some(behind) || behind == Color::Reset, "{name}: {key} is {behind}");
                }
                // A mapping that kept a finer colour would be sent to a terminal that has it not.
                for color in [style.fg, style.bg].into_iter().flatten() {
                    assert!(!matches!(color, Color::Rgb(..) | Color::Indexed(16..)), "{name}: {key}");
                }
            }
        }
    }
}
