//! What holds for every session.

use proptest::prelude::*;

use super::*;

/// What happens to a conversation before its next request.
#[derive(Clone, Debug)]
struct Step {
    agent: usize,
    /// Seconds since the step before.
    pause: i64,
    edit: Edit,
    /// Marks behind these blocks, modulo their number.
    marks: Vec<u16>,
    /// How much of what is shared the request does not vouch for.
    unsaid: usize,
}

#[derive(Clone, Debug)]
enum Edit {
    Append(usize, u8),
    /// Another text for a block, of which the first characters stay.
    Change(u16, u8),
    Remove(u16),
    Swap(u16, u16),
    /// Back to what this conversation or another one sent earlier.
    Return(u16),
    Keep,
}

fn step() -> impl Strategy<Value = Step> {
    let edit = prop_oneof![
        6 => (1_usize..4, any::<u8>()).prop_map(|(count, seed)| Edit::Append(count, seed)),
        3 => (any::<u16>(), any::<u8>()).prop_map(|(at, seed)| Edit::Change(at, seed)),
        1 => any::<u16>().prop_map(Edit::Remove),
        1 => (any::<u16>(), any::<u16>()).prop_map(|(a, b)| Edit::Swap(a, b)),
        2 => any::<u16>().prop_map(Edit::Return),
        1 => Just(Edit::Keep),
    ];
    let marks = prop::collection::vec(any::<u16>(), 0..=4);
    let pause = prop_oneof![4 => 0_i64..5, 1 => 100_i64..700];
    (0_usize..3, pause, edit, marks, 0_usize..3).prop_map(|(agent, pause, edit, marks, unsaid)| Step {
        agent,
        pause,
        edit,
        marks,
        unsaid,
    })
}

const AGENTS: [&str; 3] = ["main", "main/a", "main/b"];

fn text(seed: u8) -> String {
    format!(
        "{}{}",
        filler(1, usize::from(seed % 4) * 40),
        filler(usize::from(seed) + 2, 30 + usize::from(seed % 7) * 30)
    )
}

fn piece(number: u32, seed: u8) -> Arc<Block> {
    match number % 3 {
        0 => user(number, &text(seed)),
        1 => tool_use(number, &text(seed)),
        _ => tool_result(number, &[("tool", "", &text(seed))]),
    }
}

/// The requests of a random session.
fn session(steps: &[Step]) -> Vec<Request> {
    let start = vec![tool("t", &filler(1, 300)), system(&[("s", "", &filler(2, 400))])];
    let mut now: Vec<Vec<Arc<Block>>> = vec![start; 3];
    let mut before: Vec<Vec<Arc<Block>>> = vec![Vec::new(); 3];
    let mut sent: Vec<Vec<Arc<Block>>> = Vec::new();
    let mut next = 3;
    let mut at = 1_775_000_000_000;
    let mut requests = Vec::new();
    for (call, step) in (1..).zip(steps) {
        at += step.pause * 1_000;
        let blocks = &mut now[step.agent];
        let place = |at: u16, len: usize| usize::from(at) % len.max(1);
        match step.edit {
            Edit::Append(count, seed) => {
                for more in 0..count {
                    blocks.push(piece(next, seed.wrapping_add(more as u8)));
                    next += 1;
                }
            }
            Edit::Change(at, seed) => {
                let at = place(at, blocks.len());
                let old = blocks[at].clone();
                let parts = [("part", "", &*text(seed))];
                blocks[at] =
                    Block::new(old.kind, old.name.clone(), old.tool.clone(), old.message, traced(&parts));
            }
            Edit::Remove(at) if blocks.len() > 1 => {
                blocks.remove(place(at, blocks.len()));
            }
            Edit::Swap(a, b) => {
                let len = blocks.len();
                blocks.swap(place(a, len), place(b, len));
                blocks.sort_by_key(|block| block.kind.zone());
            }
            Edit::Return(at) if !sent.is_empty() => *blocks = sent[place(at, sent.len())].clone(),
            _ => {}
        }
        sent.push(blocks.clone());
        let old = std::mem::replace(&mut before[step.agent], blocks.clone());
        let shared = old.iter().zip(&*blocks).take_while(|(old, new)| Arc::ptr_eq(old, new)).count();
        let mut marks: Vec<usize> = step.marks.iter().map(|&mark| place(mark, blocks.len())).collect();
        marks.sort_unstable();
        marks.dedup();
        requests.push(Request {
            params: Arc::default(),
            call: CallNo(call),
            turn: 1,
            agent: AGENTS[step.agent].into(),
            model: "openai:gpt-5.4".into(),
            at,
            blocks: blocks.clone(),
            shared: shared.saturating_sub(step.unsaid),
            marks: marks.into_iter().map(|block| MarkAt { block, ttl: 300 }).collect(),
        });
    }
    requests
}

fn tokens(blocks: &[Arc<Block>]) -> u32 {
    blocks.iter().map(|block| Characters.tokens(block.text.text())).sum()
}

/// The block family, by comparing each request with all that are alive.
fn block_oracle(requests: &[Request], block: u32, min: u32, life: i64) -> Vec<(u32, u32)> {
    let floor = |tokens: u32| if tokens < min { 0 } else { tokens / block * block };
    let mut figures = Vec::new();
    for (index, request) in requests.iter().enumerate() {
        let alive = requests[..index].iter().filter(|old| request.at - old.at <= life * 1_000);
        let common = |old: &Request| {
            let equal = old.blocks.iter().zip(&request.blocks).take_while(|(a, b)| a.hash == b.hash).count();
            let inside = match (old.blocks.get(equal), request.blocks.get(equal)) {
                (Some(a), Some(b))
                    if a.kind == b.kind
                        && (!matches!(a.kind, BlockKind::ToolUse | BlockKind::ToolResult)
                            || a.name == b.name) =>
                {
                    Characters.shared(a.text.text(), b.text.text())
                }
                _ => 0,
            };
            tokens(&request.blocks[..equal]) + inside
        };
        let read = floor(alive.map(common).max().unwrap_or(0));
        let previous = requests[..index].iter().rfind(|old| old.agent == request.agent);
        let sent = tokens(&request.blocks);
        let lost = previous.map_or(0, |old| floor(tokens(&old.blocks).min(sent)).saturating_sub(read));
        figures.push((read, lost));
    }
    figures
}

/// The marked family, with a list of stored prefixes.
fn marked_oracle(requests: &[Request], min: u32, lookback: usize) -> Vec<(u32, u32, u32)> {
    struct Stored {
        prefix: Vec<u64>,
        used: i64,
        written: i64,
        by: Name,
        order: usize,
    }
    let above = |a: &str, b: &str| a == b || b.starts_with(&format!("{a}/"));
    let mut stored: Vec<Stored> = Vec::new();
    let mut figures = Vec::new();
    for (order, request) in requests.iter().enumerate() {
        let hashes: Vec<u64> = request.blocks.iter().map(|block| block.hash).collect();
        let readable = |entry: &Stored| {
            let known = above(&entry.by, &request.agent)
                || above(&request.agent, &entry.by)
                || requests[entry.order + 1..order]
                    .iter()
                    .any(|later| above(&later.agent, &entry.by) && above(&later.agent, &request.agent));
            request.at - entry.used <= 300_000 && (request.at >= entry.written + 1_000 || known)
        };
        let mut hit = None;
        'marks: for mark in request.marks.iter().rev() {
            let (mut positions, mut kind) = (0, None);
            for at in (0..=mark.block).rev() {
                let this = request.blocks[at].kind;
                let run = matches!(this, BlockKind::ToolUse | BlockKind::ToolResult) && kind == Some(this);
                positions += usize::from(!run);
                kind = Some(this);
                if positions > lookback {
                    break;
                }
                if let Some(entry) = stored.iter_mut().find(|entry| entry.prefix == hashes[..=at])
                    && readable(entry)
                {
                    entry.used = request.at;
                    hit = Some(at);
                    break 'marks;
                }
            }
        }
        let until = |at: usize| tokens(&request.blocks[..=at]);
        let read = hit.map_or(0, until);
        let mut covered = 0;
        for mark in &request.marks {
            if until(mark.block) < min {
                continue;
            }
            covered = until(mark.block);
            let prefix = &hashes[..=mark.block];
            let new = Stored {
                prefix: prefix.to_vec(),
                used: request.at,
                written: request.at,
                by: request.agent.clone(),
                order,
            };
            match stored.iter_mut().find(|entry| entry.prefix == *prefix) {
                Some(entry) if request.at - entry.used <= 300_000 => entry.used = request.at,
                Some(entry) => *entry = new,
                None => stored.push(new),
            }
        }
        let sent = tokens(&request.blocks);
        let previous = requests[..order].iter().rfind(|old| old.agent == request.agent);
        let longest = previous.map_or(0, |old| {
            let ends = old.marks.iter().map(|mark| tokens(&old.blocks[..=mark.block]));
            ends.filter(|&end| end >= min).max().unwrap_or(0)
        });
        figures.push((read, covered.saturating_sub(read), longest.min(sent).saturating_sub(read)));
    }
    figures
}

fn play(requests: &[Request], all: [Model; 2], cut: Option<usize>) -> Vec<Vec<Outcome>> {
    let lanes = [Lane::As(all[0].id.clone()), Lane::As(all[1].id.clone()), Lane::AsSent];
    let mut simulator = Simulator::new(models(all), lanes);
    let mut outcomes = Vec::new();
    for (index, request) in requests.iter().enumerate() {
        if cut == Some(index) {
            simulator = simulator.clone();
        }
        outcomes.push(simulator.call(request, &mut Characters));
    }
    outcomes
}

fn small() -> [Model; 2] {
    let mut block = block_model();
    let life = Life { max: Some(known(300)), typical: None };
    block.family = Some(Family::Block(BlockRules::plain(known(16), known(64), life)));
    [block, marked_model(500)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_linear_way_equals_comparing_everything(steps in prop::collection::vec(step(), 1..40), cut in 0_usize..40) {
        let requests = session(&steps);
        let outcomes = play(&requests, small(), Some(cut));
        let block = block_oracle(&requests, 16, 64, 300);
        let marked = marked_oracle(&requests, 500, 20);
        for (index, outcome) in outcomes.iter().enumerate() {
            let (read, _, fresh, lost) = figures(&outcome[0]);
            prop_assert_eq!((read, lost), block[index], "block, call {}", index + 1);
            prop_assert_eq!(Some(read + fresh), outcome[0].sent);
            prop_assert_eq!(&outcome[0], &outcome[2]);
            let (read, write, fresh, lost) = figures(&outcome[1]);
            prop_assert_eq!((read, write, lost), marked[index], "marked, call {}", index + 1);
            prop_assert_eq!(Some(read + write + fresh), outcome[1].sent);
            for outcome in outcome {
                prop_assert!(outcome.lost().unwrap_or_default() <= outcome.sent.unwrap_or_default());
                prop_assert!(outcome.lost_cost.unwrap_or_default() <= outcome.cost.unwrap_or_default());
                prop_assert_eq!(outcome.verdict.is_break() || outcome.also.iter().any(|v| v.is_break()), outcome.blame.is_some());
                prop_assert!(outcome.sentence(&Labels::PLAIN).ends_with('.'));
            }
        }
    }

    #[test]
    fn the_same_session_gives_the_same_outcomes(steps in prop::collection::vec(step(), 1..20)) {
        let requests = session(&steps);
        prop_assert_eq!(play(&requests, small(), None), play(&requests, small(), None));
    }

    #[test]
    fn a_changed_character_is_blamed_on_its_part(
        blocks in prop::collection::vec(prop::collection::vec(("[ab\n]{1,4}", "(|\n|\n\n|a|ab)"), 1..6), 1..5),
        block_at in any::<prop::sample::Index>(),
        part_at in any::<prop::sample::Index>(),
        char_at in any::<prop::sample::Index>(),
        letter in prop::sample::select(vec!['a', 'b', '\n', 'c', '目']),
    ) {
        let build = |blocks: &[Vec<(String, String)>]| -> Vec<Arc<Block>> {
            blocks.iter().enumerate().map(|(at, parts)| {
                let ids: Vec<String> = (0..parts.len()).map(|part| format!("p{part}")).collect();
                let parts: Vec<_> = parts.iter().zip(&ids).map(|((text, glue), id)| (id.as_str(), glue.as_str(), text.as_str())).collect();
                if at == 0 { system(&parts) } else { tool_result(at as u32, &parts) }
            }).collect()
        };
        let old = build(&blocks);
        let mut changed = blocks.clone();
        let block_at = block_at.index(blocks.len());
        let part_at = part_at.index(blocks[block_at].len());
        let mut text: Vec<char> = blocks[block_at][part_at].0.chars().collect();
        let char_at = char_at.index(text.len());
        prop_assume!(text[char_at] != letter);
        text[char_at] = letter;
        changed[block_at][part_at].0 = text.into_iter().collect();
        let new = build(&changed);

        let mut play = Play::of(block_model());
        play.send(&old, &[]);
        let outcome = play.send(&new, &[]);
        let blame = outcome.blame.unwrap();
        prop_assert_eq!((blame.block, blame.part.to_string()), (block_at, format!("p{part_at}")));
        prop_assert_eq!((blame.what, blame.separator), (What::Changed, false));
        prop_assert_eq!(outcome.behind, vec![]);
    }

    #[test]
    fn a_part_that_comes_or_goes_is_blamed_itself(
        parts in prop::collection::vec(("[ab\n]{1,3}", "(|\n|\n\n|a|ab)"), 2..7),
        at in any::<prop::sample::Index>(),
    ) {
        let ids: Vec<String> = (0..parts.len()).map(|part| format!("p{part}")).collect();
        let all: Vec<_> = parts.iter().zip(&ids).map(|((text, glue), id)| (id.as_str(), glue.as_str(), text.as_str())).collect();
        let at = at.index(all.len());
        let mut less = all.clone();
        less.remove(at);
        // As a bench joins: no separator in front of the first part.
        let first_without = |parts: &mut Vec<(&'_ str, &'_ str, &'_ str)>| if let Some(first) = parts.first_mut() { first.1 = ""; };
        let mut all = all;
        first_without(&mut all);
        first_without(&mut less);
        let blame = |old: &[(&str, &str, &str)], new: &[(&str, &str, &str)]| {
            let mut play = Play::of(block_model());
            play.send(&[system(old)], &[]);
            let outcome = play.send(&[system(new)], &[]);
            outcome.blame.map(|blame| (blame.part.to_string(), blame.what, outcome.behind.len()))
        };
        let id = format!("p{at}");
        prop_assert_eq!(blame(&all, &less), Some((id.clone(), What::Disappeared, 0)));
        prop_assert_eq!(blame(&less, &all), Some((id, What::Appeared, 0)));
    }
}
