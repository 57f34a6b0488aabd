//! Files that hold what stands in a place: the instructions file that is made for a session.

use std::sync::Arc;

use super::session::Session;
use crate::core::bench::{PlaceKind, ReadKind};
use crate::core::fact::{FactKey, FilePath, Lookup};
use crate::core::read::map_cache;
use crate::core::wire::{Block, CallNo, Zone};

impl Session {
    /// The files that hold a place's text as this call was sent it, or would be; none for a place in which nothing
    /// stands. A sub-agent has no such file: the session's is that of its first agent.
    #[must_use]
    pub fn place_files(&self, call: CallNo) -> Vec<(FilePath, Option<Arc<str>>)> {
        let waiting = self.prepared().filter(|prepared| prepared.call == call);
        let sent = || self.calls().get((call.0 as usize).checked_sub(1)?).map(|record| &**record);
        let Some(record) = waiting.or_else(sent) else { return Vec::new() };
        if self.conversations.first().is_none_or(|first| first.id != record.agent) {
            return Vec::new();
        }
        self.files_of(&record.head)
    }

    /// Notes that the request was written to its files. What a run reads of them later is what was sent last.
    pub(super) fn write_place_files(&mut self, call: CallNo, head: &[Arc<Block>]) {
        if self.current() != 0 {
            return;
        }
        self.write_map_caches(call);
        for (path, text) in self.files_of(head) {
            let before = self.store.newest_text(&path);
            if before.is_none() && text.is_none() || before == Some(text.as_ref()) {
                continue;
            }
            let event = self.begin_event(format!("the request of call {}", call.0));
            self.store.write(path, text, event);
        }
    }

    /// Notes that code maps were kept in their files, where those hold none for the index that git has now.
    fn write_map_caches(&mut self, call: CallNo) {
        let bench = self.bench.clone();
        for (name, read) in &bench.reads {
            let ReadKind::GitFiles { folder, cache: Some(cache), .. } = &read.kind else { continue };
            let Lookup::Ready(index, ..) = self.look(&FactKey::Environment("git_index".into())) else {
                continue;
            };
            let kept = match self.look(&FactKey::Data(cache.clone())) {
                Lookup::Ready(value, ..) => map_cache::served(&value, folder, &index).is_some(),
                _ => false,
            };
            let (Some((map, _)), Lookup::Ready(now, ..), false) = (self.fact(name), self.now(), kept) else {
                continue;
            };
            let text = map_cache::file(folder, &index, &map.to_string(), &now.to_string());
            let event = self.begin_event(format!("the request of call {}", call.0));
            self.store.write(cache.clone(), Some(text.into()), event);
        }
    }

    fn files_of(&self, head: &[Arc<Block>]) -> Vec<(FilePath, Option<Arc<str>>)> {
        let places = self.bench.places.values().filter(|place| place.kind == PlaceKind::System);
        places
            .filter_map(|place| {
                // A bench has one system prompt, and one with a file is a single text.
                let path = place.path.clone()?;
                let block = head.iter().find(|block| block.kind.zone() == Zone::System);
                let text = block.map(|block| block.text.text()).filter(|text| !text.is_empty());
                let whole = text
                    .map(|text| if text.ends_with('\n') { text.clone() } else { format!("{text}\n").into() });
                Some((path, whole))
            })
            .collect()
    }
}
