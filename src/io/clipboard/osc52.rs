//! OSC 52: text for the clipboard of whoever looks at the terminal (xterm, "Control Sequences", Operating System
//! Commands).

/// The sequence that puts text on the clipboard. It ends with BEL, which more terminals take than the string terminator.
pub(super) fn sequence(text: &str) -> Vec<u8> {
    let mut bytes = b"\x1b]52;c;".to_vec();
    base64(text.as_bytes(), &mut bytes);
    bytes.push(0x07);
    bytes
}

/// A sequence in the envelope with which tmux hands it on unread, each escape in it doubled. tmux opens it from 3.3 on
/// only with `allow-passthrough on`.
pub(super) fn through_tmux(sequence: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x1bPtmux;".to_vec();
    for &byte in sequence {
        if byte == 0x1b {
            bytes.push(byte);
        }
        bytes.push(byte);
    }
    bytes.extend_from_slice(b"\x1b\\");
    bytes
}

/// Base64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            out.push(if place > group.len() { b'=' } else { digit });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard() {
        for (text, want) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
            ("环?>", "546vPz4="),
        ] {
            let mut out = Vec::new();
            base64(text.as_bytes(), &mut out);
            assert_eq!(String::from_utf8_lossy(&out), want, "{text}");
        }
    }

    #[test]
    fn escapes_are_doubled_for_tmux() {
        assert_eq!(through_tmux(b"\x1b]52;c;\x1b\\"), b"\x1bPtmux;\x1b\x1b]52;c;\x1b\x1b\\\x1b\\");
    }
}
