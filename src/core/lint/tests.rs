//! What all lints have in common.

use super::*;

fn finding(about: &str, call: u32, tokens: u64) -> Finding {
    let diagnostic = Diagnostic::warning(format!("{tokens} over"));
    Finding::in_call(Lint::Budget, CallNo(call), vec![about.into()], Some(tokens), diagnostic)
}

#[test]
fn the_same_finding_in_several_calls_is_one_at_its_worst() {
    let mut all = Vec::new();
    for (call, tokens) in [(1, 5), (2, 9), (3, 7), (5, 7)] {
        merge(&mut all, vec![finding("base", call, tokens)]);
    }
    merge(&mut all, vec![finding("rules", 5, 1)]);
    assert_eq!(all.len(), 2);
    assert_eq!((all[0].calls_words(), &*all[0].diagnostic.message), ("calls 1-3, 5".into(), "9 over"));
    assert_eq!(all[1].calls_words(), "call 5");
}
