//! Colours as people write them, and what a terminal can show of them.

use ratatui::style::Color;

use crate::io::settings::Color as Wanted;

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
    /// What the user's settings say, else what the environment says.
    #[must_use]
    pub fn of(wanted: Wanted, env: &impl Fn(&str) -> Option<String>) -> Depth {
        match wanted {
            Wanted::Auto => Depth::detect(env),
            Wanted::True => Depth::True,
            Wanted::Palette => Depth::Palette,
            Wanted::Sixteen => Depth::Sixteen,
            Wanted::Never => Depth::None,
        }
    }

    /// What the environment says. A terminal that says little gets fewer colours, never none. SSH passes `TERM` on and
    /// drops `COLORTERM`, so the terminals that are known by their name have all colours.
    #[must_use]
    pub fn detect(env: &impl Fn(&str) -> Option<String>) -> Depth {
        let term = env("TERM").unwrap_or_default();
        let color = env("COLORTERM").unwrap_or_default();
        let program = env("TERM_PROGRAM").unwrap_or_default();
        let all = ["kitty", "ghostty", "alacritty", "foot", "wezterm", "contour", "rio"];
        if term == "dumb" {
            Depth::None
        } else if color == "truecolor"
            || color == "24bit"
            || term.ends_with("-direct")
            || all.iter().any(|name| term.split('-').any(|part| part == *name))
            || matches!(program.as_str(), "iTerm.app" | "WezTerm" | "vscode" | "ghostty")
        {
            Depth::True
        } else if term.contains("256") {
            Depth::Palette
        } else {
            Depth::Sixteen
        }
    }

    /// Its name for people: `all`, `256`, `16`, `none`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Depth::None => "none",
            Depth::Sixteen => "16",
            Depth::Palette => "256",
            Depth::True => "all",
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

/// How far a colour may be from the one that it stands for, as a contrast ratio: beyond that a text may vanish.
const FAR: f64 = 3.0;

/// The one of the sixteen that stands for a colour: that of its hue, where it is about as light; else a grey. The nearest
/// one by distance would be grey for every colour that is not glaring.
fn to_sixteen(rgb: [u8; 3]) -> Color {
    let [red, green, blue] = rgb.map(f64::from);
    let (high, low) = (red.max(green).max(blue), red.min(green).min(blue));
    let chroma = high - low;
    // In degrees: red 0, yellow 60, green 120, cyan 180, blue 240, magenta 300.
    let hue = if high == red {
        ((green - blue) / chroma).rem_euclid(6.0)
    } else if high == green {
        (blue - red) / chroma + 2.0
    } else {
        (red - green) / chroma + 4.0
    };
    if chroma >= 40.0 {
        // What people call green reaches far into yellow, and cyan into blue.
        let sector = match hue * 60.0 {
            25.0..75.0 => 3,
            75.0..160.0 => 2,
            160.0..215.0 => 6,
            215.0..260.0 => 4,
            260.0..330.0 => 5,
            _ => 1,
        };
        let (_, color, value) = SIXTEEN[if high >= 200.0 { sector + 8 } else { sector }];
        if contrast(rgb, value) <= FAR {
            return color;
        }
    }
    let greys = [0, 8, 7, 15].map(|index| SIXTEEN[index]);
    let nearest = greys.iter().min_by(|(.., a), (.., b)| contrast(rgb, *a).total_cmp(&contrast(rgb, *b)));
    nearest.map_or(Color::Reset, |(_, color, _)| *color)
}

/// The contrast ratio of two colours, from 1 to 21, as WCAG 2.2 defines it.
pub(super) fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
    let luminance = |rgb: [u8; 3]| {
        let [red, green, blue] = rgb.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn to_palette(rgb: [u8; 3]) -> u8 {
    (16..=255).min_by_key(|&index| distance(rgb, of_palette(index))).unwrap_or(16)
}

/// The value of a colour that has the same one in every terminal; none for those that the user's terminal chose.
#[cfg(test)]
pub(super) fn rgb(color: Color) -> Option<[u8; 3]> {
    match color {
        Color::Rgb(red, green, blue) => Some([red, green, blue]),
        Color::Indexed(index @ 16..) => Some(of_palette(index)),
        _ => None,
    }
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
    fn the_depth_is_what_the_user_wants_or_the_terminal_has() {
        let detect = |pairs: &'static [(&str, &str)]| {
            Depth::detect(&|name| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(detect(&[("TERM", "xterm-256color")]), Depth::Palette);
        assert_eq!(detect(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), Depth::True);
        assert_eq!(detect(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")]), Depth::True);
        assert_eq!(detect(&[("TERM", "xterm-kitty")]), Depth::True, "as SSH passes it on");
        assert_eq!(detect(&[("TERM", "xterm")]), Depth::Sixteen);
        assert_eq!(detect(&[]), Depth::Sixteen);
        assert_eq!(detect(&[("TERM", "dumb")]), Depth::None);
        let never = |_: &str| -> Option<String> { panic!("nothing is looked up") };
        for (wanted, depth) in [
            (Wanted::True, Depth::True),
            (Wanted::Palette, Depth::Palette),
            (Wanted::Sixteen, Depth::Sixteen),
            (Wanted::Never, Depth::None),
        ] {
            assert_eq!(Depth::of(wanted, &never), depth);
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

    #[test]
    fn with_sixteen_colours_a_hue_stays_one_where_it_can_be_read() {
        for (rgb, want) in [
            ([0x9e, 0xce, 0x6a], Color::LightGreen),
            ([0x7d, 0xcf, 0xff], Color::LightCyan),
            ([0xff, 0x93, 0xa6], Color::LightRed),
            ([0xa8, 0x00, 0x1c], Color::Red),
            ([0x1f, 0x5f, 0xbf], Color::Blue),
            ([0x1a, 0x1b, 0x26], Color::Black),
            // A dark brown as yellow could not be read on white.
            ([0x7a, 0x4b, 0x00], Color::DarkGray),
            ([0xff, 0xff, 0xff], Color::White),
        ] {
            assert_eq!(to_sixteen(rgb), want, "{rgb:?}");
        }
    }

    #[test]
    fn contrast_is_that_of_the_definition() {
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 0.01);
        assert!((contrast([0x76; 3], [255; 3]) - 4.54).abs() < 0.01);
    }
}
