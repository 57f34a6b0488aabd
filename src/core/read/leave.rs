//! What a read leaves out of a file: blocks between markers, everything where a text says so, white space at the ends.

use std::ops::Range;
use std::sync::Arc;

use super::section::trimmed;
use crate::core::bench::Leave;
use crate::core::fact::FileText;
use crate::core::overlay::{file, generated};

/// The file without what is left out. What is left out in the middle does not move what is behind it: every byte still
/// knows its line.
pub(super) fn out(text: Arc<FileText>, leave: &Leave) -> Arc<FileText> {
    let mut text = text;
    for markers in &leave.blocks {
        match file::strip(text.text.as_bytes(), markers) {
            Ok(stripped) if stripped.blocks == 0 => {}
            Ok(stripped) => text = Arc::new(text.keeping(&stripped.kept)),
            Err(stray) => text = noted(FileText::clone(&text), stray.to_string()),
        }
    }
    if let Some(sign) = &leave.not_if
        && generated::has(text.text.as_bytes(), sign, &[])
    {
        let note = format!("{}everything, since `{}` stands in it", FileText::LEFT_OUT, sign.line);
        text = noted(text.keeping(&[]), note);
    }
    if leave.trim {
        let inner: Range<usize> = trimmed(&text.text, 0..text.text.len());
        if inner.len() < text.text.len() {
            text = Arc::new(text.keeping(&[inner]));
        }
    }
    text
}

fn noted(mut text: FileText, note: String) -> Arc<FileText> {
    text.notes.push(note.into());
    Arc::new(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::bench::Markers;
    use crate::core::diagnostic::Position;
    use crate::core::fact::{Base, FilePath};

    fn pair(name: &str) -> Markers {
        Markers {
            name: name.into(),
            start: format!("<!-- {name}:START -->").into(),
            end: format!("<!-- {name}:END -->").into(),
        }
    }

    fn left(text: &str, leave: &Leave) -> Arc<FileText> {
        out(Arc::new(FileText::whole(FilePath::new(Base::Workspace, "AGENTS.md"), text)), leave)
    }

    #[test]
    fn what_is_behind_a_block_keeps_its_line() {
        let leave = Leave { blocks: vec![pair("RUN"), pair("MADE")], not_if: None, trim: true };
        let text = "\n\n# 规则\n\n<!-- MADE:START -->\nx\n<!-- MADE:END -->\n- 一\n\n<!-- RUN:START -->\ny\n<!-- RUN:END -->\n- 二\n\n";
        let file = left(text, &leave);
        assert_eq!(&*file.text, "# 规则\n- 一\n- 二");
        for (what, place) in [("# 规则", "3:1"), ("规则", "3:3"), ("- 一", "8:1"), ("二", "13:3")] {
            let byte = file.text.find(what).expect(what);
            assert_eq!(
                Position::at(&file.text, file.start(), &file.jumps, byte).to_string(),
                place,
                "{what}"
            );
        }
        assert!(file.notes.is_empty());
    }

    #[test]
    fn a_sign_leaves_out_everything_where_it_stands_alone_outside_of_blocks() {
        let sign = generated::Sign { line: "<!-- made -->".into(), behind: None };
        let leave = Leave { blocks: vec![pair("MADE")], not_if: Some(sign), trim: false };
        let file = left("a\n <!-- made --> \nb\n", &leave);
        assert_eq!((&*file.text, file.notes.len()), ("", 1));
        assert!(FileText::is_whole_with(&file.notes[0]), "{:?}", file.notes);
        for kept in ["a <!-- made -->\n", "`<!-- made -->`\n", "```\n<!-- made -->\n```\n"] {
            assert_eq!(&*left(kept, &leave).text, kept);
        }
        let managed = "a\n\n<!-- MADE:START -->\n<!-- made -->\n<!-- MADE:END -->\n";
        assert_eq!(&*left(managed, &leave).text, "a");
    }

    #[test]
    fn a_marker_without_its_end_leaves_the_file_alone_and_is_told() {
        let leave = Leave { blocks: vec![pair("RUN")], not_if: None, trim: false };
        let text = "a\n<!-- RUN:START -->\nb\n";
        let file = left(text, &leave);
        assert_eq!(&*file.text, text);
        assert!(file.notes[0].contains("in line 2 has no end"), "{:?}", file.notes);
        assert!(!FileText::is_whole_with(&file.notes[0]));
    }
}
