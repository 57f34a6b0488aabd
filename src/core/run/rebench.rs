//! Another bench in the middle of a run: what was sent stays, and what comes is made anew.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexMap;

use super::facts::Held;
use super::record::{Changed, Happened};
use super::session::{Refused, Session};
use super::short::in_short;
use crate::core::bench::{Bench, ToolGroup};
use crate::core::fact::{EventId, FactKey, Lookup, Name, Progress, Read, Reads, Rev, Value};
use crate::core::source::{Evaluated, Facts as _, Piece};
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
        self.begin_step(Happened::Bench(by.clone()));
        let event = self.begin_event(by);
        let old = self.take_bench(bench, event);
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
        // What only the old bench said is not known any more; what a hand or a run has set over it stays.
        for (name, value) in old.facts.iter().filter(|(name, _)| !facts.contains_key(*name)) {
            self.unset(current, name, value, event);
        }
        if self.bench.model != old.model {
            let model = Value::Text(self.bench.model.clone());
            self.switch_model(model, event);
        }
        let said = |bench: &Bench, name: &Name| bench.params.get(name).cloned();
        let changed: IndexMap<Name, Option<Name>> = (self.bench.params.keys().chain(old.params.keys()))
            .filter(|name| said(&self.bench, name) != said(&old, name))
            .map(|name| (name.clone(), said(&self.bench, name)))
            .collect();
        self.choose_params(&changed, event);
        if self.prepared.is_some() {
            self.prepare_again();
        }
        Ok(self.resume())
    }

    /// The bench becomes another one; fields of the main agent that it says otherwise are others for its prompts from now
    /// on.
    fn take_bench(&mut self, bench: Arc<Bench>, event: EventId) -> Arc<Bench> {
        let names: BTreeSet<&Name> = bench.agent.keys().chain(self.bench.agent.keys()).collect();
        let changed = names.into_iter().filter(|name| bench.agent.get(*name) != self.bench.agent.get(*name));
        let changed: Vec<(Name, FactKey)> =
            changed.map(|name| (name.clone(), FactKey::named(format!("agent.{name}")))).collect();
        let look = |session: &Session, key: &FactKey| in_short(&session.view(0).look(key));
        let before: Vec<Arc<str>> = changed.iter().map(|(_, key)| look(self, key)).collect();
        let old = std::mem::replace(&mut self.bench, bench);
        let bench = self.bench.clone();
        // What is derived from files in another way now is derived anew, by this event.
        let reads: BTreeSet<&Name> = bench.reads.keys().chain(old.reads.keys()).collect();
        for name in reads {
            let kind = |bench: &Bench| bench.reads.get(name).map(|read| read.kind.clone());
            if kind(&bench) != kind(&old) {
                self.derived.forget(name);
                self.gone.insert(name.clone(), event);
            }
        }
        let tools = |bench: &Bench| -> Vec<_> {
            let when = |group: &ToolGroup| group.when.as_ref().map(|when| when.text.clone());
            bench
                .tools
                .iter()
                .map(|group| (when(group), group.names.clone(), group.schemas.clone()))
                .collect()
        };
        if tools(&bench) != tools(&old) {
            self.tools_cause = event;
        }
        for ((name, key), was) in changed.into_iter().zip(before) {
            let value = self.bench.agent.get(&name).cloned();
            self.agent_edits.insert(name.clone(), event);
            let main = &mut self.conversations[0];
            match (&*name, value) {
                ("role", Some(role)) => main.role = role.to_string().into(),
                // A goal that came from what the user said is that of the conversation.
                ("goal", goal) if Some(&main.goal.value) == old.agent.get("goal") => {
                    main.goal = Held::new(goal.unwrap_or(Value::text("")), event);
                }
                _ => {}
            }
            let is = look(self, &key);
            if was != is {
                self.changes.push(Changed { key, old: was, new: is, event, agent: None });
            }
        }
        old
    }

    /// A fact that the bench does not say any more is gone, unless it has another value than `value` by now.
    fn unset(&mut self, conversation: usize, name: &Name, value: &Value, event: EventId) {
        let scope = &mut self.conversations[conversation].scope;
        let own = scope.contains_key(name);
        let held = if own { scope } else { &mut self.facts };
        if held.get(name).is_none_or(|held| held.value != *value) {
            return;
        }
        let agent = own.then(|| self.conversations[conversation].id.clone());
        let key = FactKey::Named(name.clone());
        let was = in_short(&self.view(conversation).look(&key));
        let held = if own { &mut self.conversations[conversation].scope } else { &mut self.facts };
        held.remove(name);
        self.gone.insert(name.clone(), event);
        let is = in_short(&self.view(conversation).look(&key));
        self.changes.push(Changed { key, old: was, new: is, event, agent });
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
