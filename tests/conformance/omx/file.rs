//! A block in a file: cases O31 to O39, O42 and O43, against the functions that write and remove it.
//!
//! | case | what is tested instead of the peer's behaviour |
//! |---|---|
//! | O31, O34 | byte for byte, always |
//! | O35 | a file that was made for the block goes with it, instead of one byte that stays |
//! | O38 | a block without its end is reported and the file left alone, the worker's block in it too |
//! | O39 | the same: the user's text behind it stays |
//! | O40, O41 | the numbers are not given to any case |
//! | O44 to O48 | they stand with locks and crashes |

use plywood::core::bench::Markers;
use plywood::core::overlay::file::{apply, has, strip};

const AUTONOMY: &str = "<!-- AUTONOMY DIRECTIVE — DO NOT REMOVE -->\n不要停下来问。\n<!-- END AUTONOMY DIRECTIVE -->\n\n# 规则\n\n- 一\n";

fn runtime() -> Markers {
    pair("RUNTIME")
}

fn worker() -> Markers {
    pair("TEAM:WORKER")
}

fn pair(name: &str) -> Markers {
    Markers {
        name: name.into(),
        start: format!("<!-- OMX:{name}:START -->").into(),
        end: format!("<!-- OMX:{name}:END -->").into(),
    }
}

fn block(markers: &Markers, body: &str) -> String {
    format!("{}\n{body}\n{}", markers.start, markers.end)
}

fn put(file: Option<&str>, markers: &Markers, body: &str) -> String {
    let bytes = apply(file.map(str::as_bytes), &block(markers, body), markers).expect("it can be written");
    String::from_utf8(bytes).expect("text stays text")
}

/// What stays; none where the file goes.
fn take(file: &str, markers: &Markers) -> Option<String> {
    let stripped = strip(file.as_bytes(), markers).expect("it can be taken out");
    (!stripped.gone).then(|| String::from_utf8(stripped.of(file.as_bytes())).expect("text stays text"))
}

fn starts(file: &str) -> usize {
    file.matches(&*runtime().start).count()
}

#[test]
fn o31_applied_and_stripped_a_file_is_what_it_was_byte_for_byte() {
    for original in [AUTONOMY, "# 规则", "# 规则\n\n\n", "\u{feff}# 规则\r\n- 一\r\n", "a\rb\r", "\n"]
    {
        let with = put(Some(original), &runtime(), "x");
        assert!(with.starts_with(original), "{original:?}");
        assert_eq!(take(&with, &runtime()).as_deref(), Some(original));
    }
}

#[test]
fn o32_applied_twice_is_applied_once() {
    let once = put(Some(AUTONOMY), &runtime(), "x");
    assert_eq!(put(Some(&once), &runtime(), "x"), once);
    assert_eq!(starts(&once), 1);
}

#[test]
fn o33_a_block_of_another_session_is_replaced() {
    let stale = put(Some(AUTONOMY), &runtime(), "Session ID: yesterday");
    let fresh = put(Some(&stale), &runtime(), "Session ID: today");
    assert_eq!(starts(&fresh), 1);
    assert!(fresh.contains("today") && !fresh.contains("yesterday"));
    // Somebody wrote behind it meanwhile: the new block stands at the end, the text before it.
    let written = format!("{stale}- 二\n");
    let fresh = put(Some(&written), &runtime(), "Session ID: today");
    assert_eq!(fresh, put(Some(&format!("{AUTONOMY}- 二\n")), &runtime(), "Session ID: today"));
}

#[test]
fn o34_a_file_without_a_block_stays_as_it_is() {
    for file in ["", "abc\n\n\n", AUTONOMY, "a `<!-- OMX:RUNTIME:START -->` b\n"] {
        assert_eq!(take(file, &runtime()).as_deref(), Some(file));
    }
}

#[test]
fn o35_a_file_that_was_made_for_the_block_goes_with_it() {
    let made = put(None, &runtime(), "x");
    assert_eq!(made, "<!-- OMX:RUNTIME:START -->\nx\n<!-- OMX:RUNTIME:END -->\n");
    assert_eq!(take(&made, &runtime()), None);
    // An empty file that was there before stays.
    assert_eq!(take(&put(Some(""), &runtime(), "x"), &runtime()).as_deref(), Some(""));
}

#[test]
fn o36_the_block_of_a_worker_stays() {
    let both = put(Some(&put(Some(AUTONOMY), &runtime(), "x")), &worker(), "w");
    assert_eq!(take(&both, &runtime()), Some(put(Some(AUTONOMY), &worker(), "w")));
    let other_way = put(Some(&put(Some(AUTONOMY), &worker(), "w")), &runtime(), "x");
    assert_eq!(take(&other_way, &runtime()), Some(put(Some(AUTONOMY), &worker(), "w")));
}

#[test]
fn o37_two_blocks_go_both() {
    let (one, two) = (block(&runtime(), "1"), block(&runtime(), "2"));
    for between in ["\n", "\n\n", "\n\n\n"] {
        let file = format!("{AUTONOMY}\n\n{one}{between}{two}\n");
        assert_eq!(take(&file, &runtime()).as_deref(), Some(AUTONOMY), "{between:?}");
    }
    assert_eq!(take(&format!("a\n{one}\nb\n{two}\nc\n"), &runtime()).as_deref(), Some("a\nb\nc\n"));
    // Sixty are no more than two.
    let many = format!("a\n{}", format!("{one}\n").repeat(60));
    assert_eq!(take(&many, &runtime()).as_deref(), Some("a\n"));
}

#[test]
fn o38_a_block_without_its_end_before_that_of_a_worker_is_reported_and_both_stay() {
    let file = format!("a\n\n{}\nx\n\n{}\n", runtime().start, block(&worker(), "w"));
    let stray = strip(file.as_bytes(), &runtime()).expect_err("no end");
    assert_eq!(
        stray.to_string(),
        "the marker `<!-- OMX:RUNTIME:START -->` in line 3 has no end: nothing was taken out"
    );
    // The worker's own block can still be taken out.
    assert!(take(&file, &worker()).is_some_and(|left| left.ends_with("\nx") && !left.contains("WORKER")));
}

#[test]
fn o39_the_text_behind_a_block_without_its_end_stays() {
    let file = format!("a\n\n{}\nx\n# 用户的规则\n- 一\n", runtime().start);
    for text in [file.clone(), format!("{file}{}\n", block(&runtime(), "y"))] {
        assert!(strip(text.as_bytes(), &runtime()).is_err());
        assert!(
            apply(Some(text.as_bytes()), &block(&runtime(), "z"), &runtime()).is_err(),
            "nor is it written over"
        );
    }
    let stray = strip(format!("a\n{}\n", runtime().end).as_bytes(), &runtime()).expect_err("no start");
    assert_eq!((stray.line, stray.trouble), (2, plywood::core::overlay::scan::Trouble::NoStart));
}

#[test]
fn o42_a_file_with_cr_lf_keeps_its_line_ends() {
    let original = "# 规则\r\n\r\n- 一\r\n";
    let with = put(Some(original), &runtime(), "x\ny");
    assert!(with.starts_with(original));
    assert_eq!(
        with.matches('\n').count(),
        with.matches("\r\n").count(),
        "the block ends its lines in the same way"
    );
    assert_eq!(take(&with, &runtime()).as_deref(), Some(original));
    // A block with other line ends in the middle of it takes nothing along.
    let middle = format!("# 规则\r\n{}\n- 一\r\n", block(&runtime(), "x"));
    assert_eq!(take(&middle, &runtime()).as_deref(), Some("# 规则\r\n- 一\r\n"));
}

#[test]
fn o43_a_file_has_a_block_with_both_markers_only() {
    let (start, end) = (runtime().start, runtime().end);
    for (file, want) in [
        (put(Some("a\n"), &runtime(), "x"), true),
        ("a\n".to_owned(), false),
        (format!("a\n{start}\nx\n"), false),
        (format!("a\nx\n{end}\n"), false),
        (format!("{end}\nx\n{start}\n"), false),
        (format!("a {start} x {end}\n"), false),
    ] {
        assert_eq!(has(file.as_bytes(), &runtime()), want, "{file:?}");
    }
}
