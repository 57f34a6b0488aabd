//! Another bench in the middle of a run: what was sent stays, and what comes is made anew.

use std::sync::Arc;

use super::session::{Refused, Session};
use crate::core::bench::Bench;
use crate::core::fact::{EventId, FactKey, Lookup, Name, Progress, Read, Reads, Rev, Value};
use crate::core::source::{Evaluated, Piece};
use crate::core::wire::CallNo;

impl Session {
    /// Goes on with another bench. `by` names the event ("the toggle of reminder by hand") and `layers` those that it
    /// changed: they are made again, and blamed on the event. Facts and the model take the values of the new bench where
    /// those differ from the old bench's. `Needs` means: supply, then [`Session::resume`].
    ///
    /// # Errors
    ///
    /// When the step before still needs facts.
    pub fn rebench(&mut self, bench: Arc<Bench>, by: Name, layers: &[Name]) -> Result<Progress<()>, Refused> {
        if self.is_stepping() {
            return Err(Refused("the step before still needs facts".into()));
        }
        let event = self.begin_event(by);
        let old = std::mem::replace(&mut self.bench, bench);
        for layer in layers {
            self.edited.insert(layer.clone(), event);
            for conversation in &mut self.conversations {
                conversation.built.remove(layer);
                conversation.evaluated.remove(layer);
            }
        }
        let facts = self.bench.facts.clone();
        let current = self.current();
        for (name, value) in facts.iter().filter(|(name, value)| old.facts.get(*name) != Some(value)) {
            self.set(current, name, value.clone(), event);
        }
        if self.bench.model != old.model {
            let model = Value::Text(self.bench.model.clone());
            self.switch_model(model, event);
        }
        if self.prepared.is_some() {
            self.prepare_again();
        }
        Ok(self.resume())
    }

    /// The event that changed a layer's rules before a call was made, if one did; without a layer, the latest that changed
    /// those of any. What is not there any more, or stands elsewhere, has no other witness.
    #[must_use]
    pub fn edit_before(&self, layer: Option<&str>, call: CallNo) -> Option<EventId> {
        let edits = self.edited.iter().filter(|(id, _)| layer.is_none_or(|layer| ***id == *layer));
        edits.map(|(_, event)| *event).filter(|event| self.event(*event).before == call).max()
    }

    /// What stands under `layers.ID` for a layer whose rules were changed by hand.
    pub(super) fn edit_of(&self, name: &str) -> Option<Lookup> {
        let event = *self.edited.get(name.strip_prefix("layers.")?)?;
        Some(Lookup::Ready(Value::Text(self.event(event).label.clone()), rev(event), event))
    }

    /// A layer whose rules were changed by hand has read them, as it were: the event is part of why it says what it says.
    pub(super) fn with_edit(&self, layer: &Name, evaluated: Evaluated) -> Evaluated {
        let Some(&event) = self.edited.get(layer) else { return evaluated };
        let mut reads: Reads = (*evaluated.reads).clone();
        let key = FactKey::named(format!("layers.{layer}"));
        reads.note(key, Read { rev: rev(event), cause: event, in_text: true });
        let reads = Arc::new(reads);
        let piece = match evaluated.piece.clone() {
            // The parts of a block of places read for themselves.
            Piece::Text { text, cut } if text.parts().len() == 1 => {
                Piece::Text { text: text.with_reads(&reads), cut }
            }
            other => other,
        };
        Evaluated { piece, reads, ..evaluated }
    }
}

/// Each change of a layer's rules is another revision of them.
fn rev(event: EventId) -> Rev {
    Rev(u64::from(event.0) + 1)
}
