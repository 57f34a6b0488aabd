//! How many tokens an image is: an estimate from its size in pixels, since no vendor publishes how it is cut up.
//!
//! The rule is Anthropic's (documentation of vision, November 2026): width x height / 750, images scaled down first so
//! that they come to no more than about 1,600 tokens. Other vendors count by tiles of their own; for them it is a rough
//! figure. An image whose size is not known counts as the largest.

use std::fmt;

/// Pixels for one token.
const PIXELS: u64 = 750;

/// The most that an image comes to.
pub const MOST: u32 = 1_600;

/// Width and height of an image, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pixels {
    /// From left to right.
    pub width: u32,
    /// From top to bottom.
    pub height: u32,
}

impl Pixels {
    /// `1024x768`; none where the text is something else, or a side is 0.
    #[must_use]
    pub fn parse(text: &str) -> Option<Pixels> {
        let (width, height) = text.split_once('x')?;
        Pixels::new(width.parse().ok()?, height.parse().ok()?)
    }

    fn new(width: u32, height: u32) -> Option<Pixels> {
        (width > 0 && height > 0).then_some(Pixels { width, height })
    }

    /// The size that the head of an image says whose data stands in its URL (`data:image/png;base64,..`): PNG, JPEG, GIF
    /// and WebP. None for an address, another format and data that are cut off.
    #[must_use]
    pub fn of_url(url: &str) -> Option<Pixels> {
        let (kind, data) = url.strip_prefix("data:")?.split_once(',')?;
        let head = base64(data.as_bytes().get(..HEAD).unwrap_or(data.as_bytes()));
        kind.ends_with(";base64").then(|| of_bytes(&head))?
    }
}

/// As it is written: `1024x768`.
impl fmt::Display for Pixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// The tokens of an image, an estimate: see the rule above.
#[must_use]
pub fn tokens(size: Option<Pixels>) -> u32 {
    let Some(Pixels { width, height }) = size else { return MOST };
    let tokens = (u64::from(width) * u64::from(height)).div_ceil(PIXELS);
    u32::try_from(tokens).unwrap_or(MOST).min(MOST)
}

/// How the count of an image was got, for people.
#[must_use]
pub fn rule(size: Option<Pixels>) -> String {
    match size {
        Some(size) if tokens(Some(size)) < MOST => {
            format!("~{} tokens: {size} / {PIXELS}", tokens(Some(size)))
        }
        Some(size) => format!("~{MOST} tokens: {size}, scaled down by the provider"),
        None => format!("~{MOST} tokens at most: its size is not known"),
    }
}

/// Characters of base64 that are looked at. In a JPEG the size stands behind whatever a camera noted.
const HEAD: usize = 256 * 1024;

/// The bytes of a base64 text, up to the first character that is none.
fn base64(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    out
}

fn of_bytes(bytes: &[u8]) -> Option<Pixels> {
    let big = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let big_short = |at: usize| Some(u32::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    let short = |at: usize| Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    let three = |at: usize| Some(short(at)? | u32::from(*bytes.get(at + 2)?) << 16);
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Pixels::new(big(16)?, big(20)?);
    }
    if bytes.starts_with(b"GIF8") {
        return Pixels::new(short(6)?, short(8)?);
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12)? == b"WEBP" {
        return match bytes.get(12..16)? {
            b"VP8X" => Pixels::new(three(24)? + 1, three(27)? + 1),
            b"VP8 " => Pixels::new(short(26)? & 0x3fff, short(28)? & 0x3fff),
            b"VP8L" => {
                let bits = short(21)? | short(23)? << 16;
                Pixels::new((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1)
            }
            _ => None,
        };
    }
    if bytes.starts_with(b"\xff\xd8") {
        let mut at = 2;
        while *bytes.get(at)? == 0xff {
            let marker = *bytes.get(at + 1)?;
            // The frames, but for the tables that share their range.
            if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
                return Pixels::new(big_short(at + 7)?, big_short(at + 5)?);
            }
            at += 2 + big_short(at + 2)? as usize;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(url: &str) -> Option<String> {
        Pixels::of_url(url).map(|size| size.to_string())
    }

    #[test]
    fn the_head_of_an_image_says_its_size() {
        // The heads of images of 3 x 2 pixels, as common programs write them.
        assert_eq!(
            size("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFN"),
            Some("3x2".into())
        );
        assert_eq!(size("data:image/gif;base64,R0lGODlhAwACAIAAAP///////w=="), Some("3x2".into()));
        let jpeg = "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/wAARCAACAAMDASIAAhEBAxEB";
        assert_eq!(size(jpeg), Some("3x2".into()));
        assert_eq!(
            size("data:image/webp;base64,UklGRhYAAABXRUJQVlA4WAoAAAAAAAAAAgAAAQAA"),
            Some("3x2".into())
        );
    }

    #[test]
    fn what_says_no_size_has_none() {
        for url in [
            "https://shop.example/a.png",
            "data:image/png;base64,iVBORw0KGgo",
            "data:image/png;base64,",
            "data:image/svg+xml;base64,PHN2Zz4=",
            "data:image/png,iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFN",
            "data:",
            "",
        ] {
            assert_eq!(size(url), None, "{url}");
        }
    }

    #[test]
    fn an_image_counts_by_its_area_up_to_a_limit() {
        let of = |text| tokens(Pixels::parse(text));
        assert_eq!((of("750x100"), of("1x1"), of("1092x1092"), of("9000x9000")), (100, 1, 1590, MOST));
        assert_eq!(of("an image"), MOST, "a size that is not known is the largest");
        assert_eq!(rule(Pixels::parse("750x100")), "~100 tokens: 750x100 / 750");
        assert_eq!(rule(None), "~1600 tokens at most: its size is not known");
        assert_eq!((Pixels::parse("0x5"), Pixels::parse("5"), Pixels::parse("-1x5")), (None, None, None));
    }

    proptest::proptest! {
        /// Whatever stands in a URL, looking for a size ends and does not fail.
        #[test]
        fn any_data_can_be_looked_at(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80), head in 0_usize..4) {
            let magic: [&[u8]; 4] = [b"\xff\xd8", b"GIF89a", b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0WEBPVP8X"];
            let mut all = magic[head].to_vec();
            all.extend(bytes);
            let _ = of_bytes(&all);
        }
    }
}
