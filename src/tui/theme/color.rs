//! Colours as people write them, and what a terminal can show of them.

use ratatui::style::Color;

/// How many colours a terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// None: modifiers only.
    None,
    /// The sixteen that the user chose.
    Sixteen,
    /// The palette of 256.
    Palette,
    /// All.
    True,
}

impl Depth {
    /// What the environment says. A terminal that says little gets fewer colours, never none.
    #[must_use]
    pub fn detect(env: &impl Fn(&str) -> Option<String>) -> Depth {
        let term = env("TERM").unwrap_or_default();
        let color = env("COLORTERM").unwrap_or_default();
        if env("NO_COLOR").is_some_and(|value| !value.is_empty()) || term == "dumb" {
            Depth::None
        } else if color == "truecolor" || color == "24bit" || term.ends_with("-direct") {
            Depth::True
        } else if term.contains("256") {
            Depth::Palette
        } else {
            Depth::Sixteen
        }
    }

    /// The nearest colour that can be shown; none where no colour can.
    #[must_use]
    pub fn approximate(self, color: Color) -> Option<Color> {
        let color = match (self, color) {
            (Depth::None, _) => return None,
            (Depth::Palette, Color::Rgb(r, g, b)) => Color::Indexed(to_palette([r, g, b])),
            (Depth::Sixteen, Color::Rgb(r, g, b)) => to_sixteen([r, g, b]),
            (Depth::Sixteen, Color::Indexed(index)) if index >= 16 => to_sixteen(of_palette(index)),
            _ => color,
        };
        Some(color)
    }
}

/// The sixteen colours in the order of their numbers.
const SIXTEEN: [(&str, Color, [u8; 3]); 16] = [
    ("black", Color::Black, [0, 0, 0]),
    ("red", Color::Red, [205, 0, 0]),
    ("green", Color::Green, [0, 205, 0]),
    ("yellow", Color::Yellow, [205, 205, 0]),
    ("blue", Color::Blue, [0, 0, 238]),
    ("magenta", Color::Magenta, [205, 0, 205]),
    ("cyan", Color::Cyan, [0, 205, 205]),
    ("white", Color::Gray, [229, 229, 229]),
    ("bright-black", Color::DarkGray, [127, 127, 127]),
    ("bright-red", Color::LightRed, [255, 0, 0]),
    ("bright-green", Color::LightGreen, [0, 255, 0]),
    ("bright-yellow", Color::LightYellow, [255, 255, 0]),
    ("bright-blue", Color::LightBlue, [92, 92, 255]),
    ("bright-magenta", Color::LightMagenta, [255, 0, 255]),
    ("bright-cyan", Color::LightCyan, [0, 255, 255]),
    ("bright-white", Color::White, [255, 255, 255]),
];

/// The steps of the palette's colour cube.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Reads a colour: a name, a number of the palette, `#rrggbb`.
#[must_use]
pub(super) fn parse(text: &str) -> Option<Color> {
    if text == "default" {
        return Some(Color::Reset);
    }
    if let Some((_, color, _)) = SIXTEEN.iter().find(|(name, ..)| *name == text) {
        return Some(*color);
    }
    if let Some(hex) = text.strip_prefix('#') {
        if hex.len() != 6 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).ok();
        return Some(Color::Rgb(part(0)?, part(2)?, part(4)?));
    }
    text.parse().ok().map(Color::Indexed)
}

fn distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    a.iter().zip(b).map(|(&a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

fn to_sixteen(rgb: [u8; 3]) -> Color {
    SIXTEEN
        .iter()
        .min_by_key(|(.., known)| distance(rgb, *known))
        .map_or(Color::Reset, |(_, color, _)| *color)
}

fn to_palette(rgb: [u8; 3]) -> u8 {
    (16..=255).min_by_key(|&index| distance(rgb, of_palette(index))).unwrap_or(16)
}

/// The colour of a number from 16 on: a cube of 6 x 6 x 6, then 24 greys.
pub(crate) fn of_palette(index: u8) -> [u8; 3] {
    if index >= 232 {
        return [8 + 10 * (index - 232); 3];
    }
    let cube = usize::from(index.max(16) - 16);
    [STEPS[cube / 36], STEPS[cube / 6 % 6], STEPS[cube % 6]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read() {
        for (text, want) in [
            ("cyan", Some(Color::Cyan)),
            ("white", Some(Color::Gray)),
            ("bright-black", Some(Color::DarkGray)),
            ("#ff8000", Some(Color::Rgb(255, 128, 0))),
            ("208", Some(Color::Indexed(208))),
            ("default", Some(Color::Reset)),
            ("#fff", None),
            ("#ff80é", None),
            ("256", None),
            ("sky", None),
        ] {
            assert_eq!(parse(text), want, "{text}");
        }
    }

    #[test]
    fn colours_are_approximated_down() {
        let orange = Color::Rgb(255, 135, 0);
        assert_eq!(Depth::True.approximate(orange), Some(orange));
        assert_eq!(Depth::Palette.approximate(orange), Some(Color::Indexed(208)));
        assert_eq!(Depth::Sixteen.approximate(Color::Rgb(250, 10, 10)), Some(Color::LightRed));
        assert_eq!(Depth::Sixteen.approximate(Color::Indexed(244)), Some(Color::DarkGray));
        assert_eq!(Depth::Sixteen.approximate(Color::Cyan), Some(Color::Cyan));
        assert_eq!(Depth::None.approximate(Color::Cyan), None);
    }
}
