//! Changes that are announced: staged when a watched fact is not what it was, told when they are sent.

use std::sync::Arc;

use super::injectors::told_as;
use super::prepare::{Draft, Target, omitted, place_index};
use super::record::{Baseline, LayerState, Pending};
use super::session::Session;
use crate::core::bench::{Bench, Keeping, MessageAt, PlaceKind, Since};
use crate::core::fact::{FactKey, Lookup, Name, Progress};
use crate::core::source::{self, Evaluated, Facts, Scope};

impl Session {
    /// Stages what a layer says when a watched fact is not what it was.
    pub(super) fn announce(
        &mut self,
        bench: &Bench,
        index: usize,
        watch: &[Name],
        since: Since,
        draft: &mut Draft,
    ) {
        let layer = &bench.layers[index];
        let Some(place) = bench.places.get(&layer.place) else { return };
        let current = self.current();
        let mut values = Baseline::new();
        for fact in watch {
            match self.view(current).look(&FactKey::Named(fact.clone())) {
                Lookup::Ready(value, rev, _) => {
                    values.insert(fact.clone(), (rev, told_as(&value)));
                }
                Lookup::Unknown => draft.needs.push(self.view(current).behind(&FactKey::Named(fact.clone()))),
                Lookup::Absent(_) | Lookup::Failed(..) => {}
            }
        }
        let conversation = &self.conversations[current];
        let mut baseline = conversation.baselines.get(&layer.id).cloned();
        let after_tools = conversation.newest_tool.is_some() || !conversation.just.is_empty();
        match since {
            // What the layers were built with is known: a change is measured from there.
            Since::Built => {
                let base = baseline.get_or_insert_with(|| values.clone());
                for (fact, value) in &values {
                    if self.tells(bench, fact, draft) {
                        base.insert(fact.clone(), value.clone());
                    }
                }
            }
            // The first look only takes note, and a new turn looks for the first time again.
            Since::First | Since::EmptyIsUnset => {
                if conversation.fresh_turn {
                    baseline = None;
                }
                let unset = since == Since::EmptyIsUnset
                    && baseline.as_ref().is_some_and(|base| base.values().all(|(_, text)| text.is_empty()));
                if after_tools && (baseline.is_none() || unset) {
                    baseline = Some(values.clone());
                }
            }
        }
        let watched = self.compared(&layer.id, watch, baseline.as_ref());
        draft.watched.extend(watched);
        let mut state = |evaluated: Evaluated, note: Option<Arc<str>>| {
            draft.states[index] = Some(LayerState {
                id: layer.id.clone(),
                state: evaluated,
                kept: false,
                old: Vec::new(),
                note,
            });
        };
        let Some(base) = baseline else {
            draft.baselines.remove(&layer.id);
            state(omitted(layer, "no baseline yet"), None);
            return;
        };
        let changed: Vec<(&Name, &Arc<str>, &Arc<str>)> = values
            .iter()
            .filter_map(|(fact, (rev, text))| match base.get(fact) {
                Some((old, _)) if old == rev => None,
                old => Some((fact, old.map_or(text, |(_, text)| text), text)),
            })
            .collect();
        if changed.is_empty() {
            draft.baselines.insert(layer.id.clone(), base);
            state(omitted(layer, "nothing has changed"), None);
            return;
        }
        let reason: Arc<str> = changed
            .iter()
            .map(|(fact, old, new)| format!("{fact} changed: {old} -> {new}"))
            .collect::<Vec<_>>()
            .join("; ")
            .into();
        let evaluated = {
            let mut templates = self.templates();
            let mut scope = Scope { bench, templates: &mut templates };
            source::evaluate(layer, &mut scope, &self.view(current), None)
        };
        let evaluated = match evaluated {
            Progress::Done(evaluated) => self.with_edit(&layer.id, evaluated),
            Progress::Needs(needs) => {
                draft.needs.extend(needs);
                return;
            }
        };
        let conversation = &self.conversations[current];
        let target = match place.kind {
            PlaceKind::NewestTool => conversation.newest_tool.map(Target::Message),
            PlaceKind::CurrentUser if conversation.fresh_turn => {
                conversation.current_user.map(Target::Message)
            }
            PlaceKind::CurrentUser => None,
            PlaceKind::Message { at: MessageAt::BeforeCurrent } if !conversation.fresh_turn => None,
            PlaceKind::Message { at } => Some(Target::Own(at, place_index(bench, &layer.place))),
            PlaceKind::System | PlaceKind::Block => None,
        };
        let note = match (evaluated.piece.text(), target) {
            (Some(text), Some(target)) => {
                let attachment = self.attachment(layer, place, text);
                // Equal priorities keep the order of the list.
                let before = |other: &Name| {
                    let at = bench.layers.iter().position(|layer| layer.id == *other);
                    at.is_none_or(|at| (bench.layers[at].run, at) < (layer.run, index))
                };
                match target {
                    Target::Message(message) => {
                        let at =
                            draft.attach.iter().position(|(index, a)| *index == message && !before(&a.layer));
                        draft.attach.insert(at.unwrap_or(draft.attach.len()), (message, attachment));
                    }
                    Target::Own(at, own) => draft.own.push((at, own, attachment)),
                }
                let at = draft
                    .injected
                    .iter()
                    .position(|(other, ..)| !before(other))
                    .unwrap_or(draft.injected.len());
                draft.injected.insert(at, (layer.id.clone(), target, text.clone(), reason.clone()));
                if layer.keep.earlier == Keeping::Strip {
                    draft.strip.push(layer.id.clone());
                }
                draft.baselines.insert(layer.id.clone(), values);
                Some(reason)
            }
            // It counts as told, and is not.
            (Some(_), None) if layer.keep.untold == Keeping::Strip => {
                draft.baselines.insert(layer.id.clone(), values);
                Some(reason)
            }
            (Some(text), None) => {
                draft.baselines.insert(layer.id.clone(), base);
                let waits_for: Arc<str> = match place.kind {
                    PlaceKind::NewestTool => "a tool message".into(),
                    _ => "the next user message".into(),
                };
                draft.pending.push(Pending { layer: layer.id.clone(), text: text.clone(), waits_for });
                Some(reason)
            }
            (None, _) => {
                draft.baselines.insert(layer.id.clone(), base);
                None
            }
        };
        let listed = match (target, layer.keep.untold) {
            (Some(_), _) => evaluated,
            (None, Keeping::Keep) => omitted(layer, "pending"),
            (None, Keeping::Strip) => omitted(layer, "dropped: there is no place for it"),
        };
        draft.states[index] =
            Some(LayerState { id: layer.id.clone(), state: listed, kept: false, old: Vec::new(), note });
    }

    /// True when a layer of this request, built for it, says the present value of a fact.
    pub(super) fn tells(&self, bench: &Bench, fact: &Name, draft: &Draft) -> bool {
        let key = FactKey::Named(fact.clone());
        let Lookup::Ready(_, now, _) = self.view(self.current()).look(&key) else { return false };
        bench.layers.iter().zip(&draft.states).any(|(layer, state)| {
            let placed = bench.places.get(&layer.place).is_some_and(|place| {
                matches!(place.kind, PlaceKind::System | PlaceKind::CurrentUser | PlaceKind::Block)
            });
            placed
                && state.as_ref().is_some_and(|state| {
                    state.state.piece.text().is_some()
                        && state.state.reads.0.get(&key).is_some_and(|read| read.in_text && read.rev == now)
                })
        })
    }
}
