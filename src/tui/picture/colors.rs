//! The colours of a picture: those of the theme as they are, the terminal's own sixteen as a usual terminal has them.

use ratatui::style::Color;

use crate::tui::theme::{Role, Theme, palette_rgb};

/// What a picture is drawn on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Light letters on a dark ground.
    Dark,
    /// Dark letters on a light ground.
    Light,
}

type Rgb = [u8; 3];

/// Black, red, green, yellow, blue, magenta, cyan, white, and the same brighter: readable on the ground.
const ON_DARK: [Rgb; 16] = [
    [0x2b, 0x2f, 0x3a],
    [0xf2, 0x77, 0x7a],
    [0x99, 0xcc, 0x7a],
    [0xe5, 0xc0, 0x7b],
    [0x6c, 0xa6, 0xe8],
    [0xc6, 0x8a, 0xdb],
    [0x5f, 0xc4, 0xc9],
    [0xc8, 0xcc, 0xd4],
    [0x7a, 0x82, 0x90],
    [0xff, 0x93, 0x96],
    [0xb5, 0xe0, 0x97],
    [0xf5, 0xd7, 0x96],
    [0x8f, 0xbf, 0xf7],
    [0xdb, 0xa6, 0xec],
    [0x85, 0xdc, 0xe0],
    [0xff, 0xff, 0xff],
];

const ON_LIGHT: [Rgb; 16] = [
    [0x1f, 0x23, 0x28],
    [0xc5, 0x22, 0x1f],
    [0x1a, 0x7f, 0x37],
    [0x8a, 0x5a, 0x00],
    [0x1f, 0x5f, 0xbf],
    [0x82, 0x3c, 0xa8],
    [0x0b, 0x6e, 0x75],
    [0x6e, 0x77, 0x81],
    [0x57, 0x60, 0x6a],
    [0xd9, 0x36, 0x33],
    [0x2d, 0x9a, 0x4b],
    [0xa8, 0x70, 0x08],
    [0x3b, 0x7b, 0xd9],
    [0x9a, 0x55, 0xc0],
    [0x1c, 0x8a, 0x92],
    [0x24, 0x29, 0x2f],
];

impl Ground {
    /// The ground that a theme paints, else the one that its colours are made for: dark colours want a light one. A theme
    /// of the terminal's own colours fits both, and gets a dark one.
    #[must_use]
    pub fn of(theme: &Theme) -> Ground {
        let dark = |color| luminance(color) < 128;
        if let Some(painted) = theme.style(Role::Text).bg.and_then(own) {
            return if dark(painted) { Ground::Dark } else { Ground::Light };
        }
        let mut sum = 0;
        let mut count = 0;
        for style in theme.styles() {
            if let (Some(color), None) = (style.fg.and_then(own), style.bg) {
                sum += luminance(color);
                count += 1;
            }
        }
        if count > 0 && sum / count < 128 { Ground::Light } else { Ground::Dark }
    }

    /// The colours of plain text: in front, behind.
    pub(super) fn defaults(self) -> (String, String) {
        (hex(self.front()), hex(self.back()))
    }

    fn front(self) -> Rgb {
        match self {
            Ground::Dark => [0xd5, 0xd9, 0xe0],
            Ground::Light => [0x24, 0x29, 0x2f],
        }
    }

    fn back(self) -> Rgb {
        match self {
            Ground::Dark => [0x16, 0x18, 0x1d],
            Ground::Light => [0xff, 0xff, 0xff],
        }
    }

    /// The colours of a cell: in front, behind.
    pub(super) fn cell(self, front: Color, back: Color, dim: bool, reversed: bool) -> (String, String) {
        let mut front = self.color(front).unwrap_or_else(|| self.front());
        let back = self.color(back).unwrap_or_else(|| self.back());
        if dim {
            front = [0, 1, 2].map(|at| ((u16::from(front[at]) * 6 + u16::from(back[at]) * 4) / 10) as u8);
        }
        if reversed { (hex(back), hex(front)) } else { (hex(front), hex(back)) }
    }

    fn color(self, color: Color) -> Option<Rgb> {
        let sixteen = match self {
            Ground::Dark => &ON_DARK,
            Ground::Light => &ON_LIGHT,
        };
        let place = match color {
            Color::Reset => return None,
            Color::Black => 0,
            Color::Red => 1,
            Color::Green => 2,
            Color::Yellow => 3,
            Color::Blue => 4,
            Color::Magenta => 5,
            Color::Cyan => 6,
            Color::Gray => 7,
            Color::DarkGray => 8,
            Color::LightRed => 9,
            Color::LightGreen => 10,
            Color::LightYellow => 11,
            Color::LightBlue => 12,
            Color::LightMagenta => 13,
            Color::LightCyan => 14,
            Color::White => 15,
            Color::Indexed(place @ 0..16) => usize::from(place),
            Color::Rgb(..) | Color::Indexed(_) => return own(color),
        };
        Some(sixteen[place])
    }
}

/// A colour that is the same in every terminal.
fn own(color: Color) -> Option<Rgb> {
    match color {
        Color::Rgb(r, g, b) => Some([r, g, b]),
        Color::Indexed(place @ 16..) => Some(palette_rgb(place)),
        _ => None,
    }
}

/// How bright a colour is, from 0 to 255 (ITU-R BT.601).
fn luminance([r, g, b]: Rgb) -> u32 {
    (299 * u32::from(r) + 587 * u32::from(g) + 114 * u32::from(b)) / 1000
}

fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Depth;

    #[test]
    fn a_theme_has_the_ground_that_it_is_made_for() {
        for (name, want) in
            [("light", Ground::Light), ("dark", Ground::Dark), ("ansi", Ground::Dark), ("mono", Ground::Dark)]
        {
            for depth in [Depth::True, Depth::Palette] {
                let theme = Theme::built_in(name, depth).expect("it is built in");
                assert_eq!(Ground::of(&theme), want, "{name}");
            }
        }
    }

    #[test]
    fn everything_can_be_read_on_its_ground() {
        for (ground, sixteen) in [(Ground::Dark, ON_DARK), (Ground::Light, ON_LIGHT)] {
            // Black on dark and white on light are what they are called.
            for (place, color) in sixteen.into_iter().enumerate().filter(|(place, _)| *place != 0) {
                let contrast = luminance(color).abs_diff(luminance(ground.back()));
                assert!(contrast > 90, "{place} on {ground:?}: {contrast}");
            }
        }
    }

    #[test]
    fn dim_text_comes_nearer_to_its_ground() {
        let (front, back) = Ground::Light.cell(Color::Reset, Color::Reset, true, false);
        assert_eq!((&*front, &*back), ("#7b7e82", "#ffffff"));
        assert_eq!(Ground::Dark.cell(Color::Indexed(208), Color::Reset, false, false).0, "#ff8700");
    }
}
