//! Which layers two benches say otherwise, wherever they stand in their files.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Bench, Expression, Layer, LayerSource, OnError, Template};
use crate::core::fact::Name;

impl Bench {
    /// The layers that another bench says otherwise, has not, or has in addition. Where they stand in the file does not
    /// count, nor in which order.
    #[must_use]
    pub fn changed_layers(&self, other: &Bench) -> Arc<[Name]> {
        let ids: BTreeSet<&Name> = self.layers.iter().chain(&other.layers).map(|layer| &layer.id).collect();
        let differs = |id: &&Name| match (self.layer(id), other.layer(id)) {
            (Some(a), Some(b)) => !same_layer(a, b),
            _ => true,
        };
        ids.into_iter().filter(differs).cloned().collect()
    }
}

fn same_layer(a: &Layer, b: &Layer) -> bool {
    // Each field has its line, so that a new one is not forgotten.
    let Layer {
        id,
        title,
        at: _,
        from,
        when,
        place,
        run,
        key,
        refresh,
        keep,
        form,
        cap,
        budget,
        required,
        on_error,
        // What is told about a layer is no part of what it says.
        allow: _,
    } = a;
    *id == b.id
        && *title == b.title
        && same_source(from, &b.from)
        && same_option(when.as_ref(), b.when.as_ref(), same_expression)
        && *place == b.place
        && *run == b.run
        && *key == b.key
        && *refresh == b.refresh
        && *keep == b.keep
        && *form == b.form
        && *cap == b.cap
        && *budget == b.budget
        && *required == b.required
        && same_on_error(on_error, &b.on_error)
}

fn same_option<T>(a: Option<&T>, b: Option<&T>, same: impl Fn(&T, &T) -> bool) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (None, None) => true,
        _ => false,
    }
}

fn same_expression(a: &Expression, b: &Expression) -> bool {
    a.text == b.text
}

fn same_template(a: &Template, b: &Template) -> bool {
    match (a, b) {
        (Template::File(a, _), Template::File(b, _)) => a == b,
        (Template::Inline(a), Template::Inline(b)) => a.text == b.text,
        _ => false,
    }
}

fn same_on_error(a: &OnError, b: &OnError) -> bool {
    match (a, b) {
        (OnError::Use(a), OnError::Use(b)) => same_template(a, b),
        _ => a == b,
    }
}

fn same_source(a: &LayerSource, b: &LayerSource) -> bool {
    match (a, b) {
        (LayerSource::Template(a), LayerSource::Template(b)) => same_template(a, b),
        (
            LayerSource::Table { rows, on, matching, join },
            LayerSource::Table { rows: rows_b, on: on_b, matching: matching_b, join: join_b },
        ) => rows == rows_b && same_expression(on, on_b) && matching == matching_b && join == join_b,
        (
            LayerSource::Each { over, item, frame, filter, join },
            LayerSource::Each { over: over_b, item: item_b, frame: frame_b, filter: filter_b, join: join_b },
        ) => {
            over == over_b
                && same_template(item, item_b)
                && same_option(frame.as_ref(), frame_b.as_ref(), same_template)
                && same_option(filter.as_ref(), filter_b.as_ref(), same_expression)
                && join == join_b
        }
        (LayerSource::Lines { of, frame }, LayerSource::Lines { of: of_b, frame: frame_b }) => {
            same_expression(of, of_b) && same_option(frame.as_ref(), frame_b.as_ref(), same_template)
        }
        // What holds no position.
        _ => a == b,
    }
}
