//! Sessions: whose they are, and whose the block in the source is.

use super::acts::Act;
use super::*;

#[test]
fn a_live_session_is_its_owners_and_a_stale_one_is_resumed_or_cleaned() {
    let scene = Scene::new(Some("# rules\n"));
    let [first, second] = [(); 2].map(|()| Process::new(&scene.living, 0, Fault::None));
    Act::ApplySession.run(&scene, &first).expect("applied");
    for act in [Act::ApplySession, Act::EndSession] {
        let told = act.run(&scene, &second).expect_err("not its own").to_string();
        assert!(
            told.starts_with("the session s1 belongs to process ") && told.ends_with(", which is alive"),
            "{told}"
        );
    }
    assert_eq!(scene.overlay(&second).clean(NOW).expect("nothing to clean"), []);
    assert!(scene.session_file().is_some());
    // Its owner dies: it stays until somebody says so.
    first.end();
    let life = |world: &dyn World| scene.overlay(world).status(None).sessions[0].life.clone();
    assert_eq!(life(&second), Life::Stale);
    Act::ApplySource.run(&scene, &second).expect("another overlay cleans up nothing");
    assert_eq!(life(&second), Life::Stale);
    Act::ApplySession.run(&scene, &second).expect("resumed");
    let status = scene.overlay(&second).status(None);
    assert_eq!((life(&second), status.sessions[0].resumed), (Life::Live, 1));
    second.end();
    let third = Process::new(&scene.living, 0, Fault::None);
    let cleaned = scene.overlay(&third).clean(NOW).expect("cleaned");
    assert_eq!(cleaned.len(), 1, "{cleaned:?}");
    assert_eq!((scene.session_file(), life(&third)), (None, Life::Archived));
    assert!(scene.source().expect("there").starts_with("# rules\n"), "the source is not touched");
    // It ends only once, and can be taken up again.
    assert_eq!(scene.overlay(&third).end("s1", Some(&third.me()), NOW).expect("done").word(), "unchanged");
    Act::ApplySession.run(&scene, &third).expect("taken up again");
    assert_eq!(life(&third), Life::Live);
}

#[test]
fn a_session_that_moves_takes_its_overlay_with_it() {
    let scene = Scene::new(Some("# rules\n"));
    let overlay = scene.overlay(&Machine);
    let apply = |target| overlay.apply(&scene.record(&Machine, target), &texts()).expect("applied");
    apply(Target::Session);
    apply(Target::Source);
    assert_eq!((scene.session_file(), scene.source()), (None, Some(format!("# rules\n\n\n{}\n", block()))));
    apply(Target::Session);
    assert_eq!((scene.session_file(), scene.source().as_deref()), (Some(texts().file), Some("# rules\n")));
}

#[test]
fn what_somebody_wrote_into_a_sessions_file_stays() {
    let scene = Scene::new(Some("# rules\n"));
    let path = scene.site.sessions.as_ref().expect("there are").file("s1");
    Act::ApplySession.run(&scene, &Machine).expect("applied");
    fs::write(&path, format!("# edited\n\n\n{START}\nold\n{END}\n")).expect("written");
    let overlay = scene.overlay(&Machine);
    assert_eq!(overlay.status(None).sessions[0].own, Some(false));
    let (change, _) = overlay.apply(&scene.record(&Machine, Target::Session), &texts()).expect("applied");
    assert_eq!(scene.session_file(), Some(format!("# edited\n\n\n{}\n", block())));
    assert_eq!(change.notes, ["somebody else has written it: only its block was replaced"]);
    let change = overlay.end("s1", Some(&Machine.me()), NOW).expect("ended");
    assert_eq!((scene.session_file().as_deref(), change.notes.len()), (Some("# edited\n"), 1));
}

#[test]
fn sessions_of_others_are_left_alone() {
    let scene = Scene::new(Some("# rules\n"));
    let sessions = scene.site.sessions.clone().expect("there are");
    // Another program's; one of another worktree; and one whose record nobody can read.
    for id in ["other", "far", "broken", "empty"] {
        fs::create_dir_all(sessions.folder.join(id)).expect("made");
    }
    fs::write(sessions.file("other"), "# theirs\n").expect("written");
    let far = Record {
        id: "far".into(),
        workspace: "/elsewhere".into(),
        ..scene.record(&Machine, Target::Session)
    };
    fs::write(sessions.record("far"), serde_json::to_string(&far).expect("JSON")).expect("written");
    fs::write(sessions.file("far"), "# far\n").expect("written");
    fs::write(sessions.record("broken"), "{}").expect("written");
    let overlay = scene.overlay(&Machine);
    let lives: Vec<(String, &str)> = overlay
        .status(None)
        .sessions
        .iter()
        .map(|session| (session.id.clone(), session.life.word()))
        .collect();
    let want = [("broken", "unreadable"), ("far", "of another folder"), ("other", "not ours")];
    assert_eq!(lives, want.map(|(id, word)| (id.to_owned(), word)));
    assert_eq!(overlay.clean(NOW).expect("nothing to clean"), []);
    let told = overlay.end("far", Some(&Machine.me()), NOW).expect_err("not ours").to_string();
    assert_eq!(told, "the session far is one of /elsewhere");
    for id in ["other", "far"] {
        assert!(sessions.file(id).exists(), "{id}");
    }
}

#[test]
fn who_does_not_say_when_it_started_is_stale_where_that_is_known() {
    let scene = Scene::new(None);
    let mut record = scene.record(&Machine, Target::Session);
    assert_eq!(record.life(&Machine, &scene.site.workspace), Life::Live);
    record.owner.start = None;
    let want = if owner::KNOWS_START { Life::Stale } else { Life::Live };
    assert_eq!(record.life(&Machine, &scene.site.workspace), want);
    record.owner = owner::Owner { pid: i32::MAX as u32, ..record.owner };
    assert_eq!(record.life(&Machine, &scene.site.workspace), Life::Stale);
}

/// One of two sessions that have their blocks in the same source.
struct Side<'s> {
    scene: &'s Scene,
    id: String,
    process: Option<Process>,
    alive: bool,
}

impl<'s> Side<'s> {
    fn two(scene: &'s Scene) -> [Side<'s>; 2] {
        ["s1", "s2"].map(|id| Side { scene, id: id.to_owned(), process: None, alive: true })
    }

    fn block(&self) -> String {
        format!("{START}\nSession ID: {}\n{END}", self.id)
    }

    /// The process that acts for the session: another one where its owner is dead.
    fn process(&mut self) -> &Process {
        if !self.alive {
            self.process = None;
            self.alive = true;
        }
        self.process.get_or_insert_with(|| Process::new(&self.scene.living, 0, Fault::None))
    }

    fn apply(&mut self) {
        let (id, block) = (self.id.clone(), self.block());
        let (scene, process) = (self.scene, self.process());
        let wanted = Record { id, ..scene.record(process, Target::Source) };
        let texts = Texts { file: String::new(), block };
        scene.overlay(process).apply(&wanted, &texts).expect("applied");
    }

    fn strip(&mut self) {
        let (scene, id) = (self.scene, self.id.clone());
        let process = self.process();
        scene.overlay(process).end(&id, Some(&process.me()), NOW).expect("stripped");
    }

    fn die(&mut self) {
        self.process().end();
        self.alive = false;
    }

    fn life(&self, world: &dyn World) -> Option<Life> {
        let sessions = self.scene.overlay(world).status(None).sessions;
        sessions.into_iter().find(|session| session.id == self.id).map(|session| session.life)
    }
}

/// Every order in which two sessions can begin, end, die and be cleaned up after.
#[test]
fn the_block_in_the_source_is_that_of_the_session_that_wrote_it_last() {
    const ACTS: usize = 7;
    // The two are alike: the first to begin is always the first one.
    for order in (0..ACTS.pow(4)).filter(|order| order % ACTS == 0) {
        let scene = Scene::new(Some("# rules\n"));
        let cleaner = Process::new(&scene.living, 0, Fault::None);
        let mut sessions = Side::two(&scene);
        // What is to be: which sessions go on, and whose block is there.
        let (mut open, mut writer) = ([false; 2], None);
        let mut told = String::new();
        for at in 0..4_u32 {
            let act = order / ACTS.pow(at) % ACTS;
            let who = act % 2;
            match act {
                0 | 1 => {
                    sessions[who].apply();
                    (open[who], writer) = (true, Some(who));
                    told += &format!("apply {who}, ");
                }
                2 | 3 => {
                    sessions[who].strip();
                    open[who] = false;
                    writer = writer.filter(|writer| *writer != who);
                    told += &format!("strip {who}, ");
                }
                4 | 5 => {
                    sessions[who].die();
                    told += &format!("death {who}, ");
                }
                _ => {
                    scene.overlay(&cleaner).clean(NOW).expect("cleaned");
                    for (who, open) in open.iter_mut().enumerate().filter(|(who, _)| !sessions[*who].alive) {
                        *open = false;
                        writer = writer.filter(|writer| *writer != who);
                    }
                    told += "clean, ";
                }
            }
            let block = writer.map(|who| format!("\n\n{}\n", sessions[who].block())).unwrap_or_default();
            assert_eq!(scene.source(), Some(format!("# rules\n{block}")), "{told}");
            for (who, session) in sessions.iter().enumerate() {
                let fits = match session.life(&cleaner) {
                    Some(Life::Live) => open[who] && session.alive,
                    Some(Life::Stale) => open[who] && !session.alive,
                    Some(Life::Archived) | None => !open[who],
                    Some(_) => false,
                };
                assert!(fits, "{told}: {who} is {:?}", session.life(&cleaner));
            }
        }
    }
}

#[test]
fn a_block_in_place_of_another_is_told_of_both() {
    let scene = Scene::new(Some("# rules\n"));
    let [mut first, mut second] = Side::two(&scene);
    first.apply();
    let process = Process::new(&scene.living, 0, Fault::None);
    let wanted = Record { id: "s2".into(), ..scene.record(&process, Target::Source) };
    let texts = Texts { file: String::new(), block: second.block() };
    second.process = Some(process);
    let world = second.process.as_ref().expect("it is there");
    let (change, record) = scene.overlay(world).apply(&wanted, &texts).expect("applied");
    let pid = first.process().me().pid;
    assert_eq!(
        change.notes,
        [format!("it stands in place of that of the session s1 of process {pid}, which is alive")]
    );
    assert_eq!(scene.overlay(world).displaced_by(&record), Ok(None));
    let status = scene.overlay(world).status(None);
    assert_eq!(status.writer().map(|writer| &*writer.id), Some("s2"));
    let findings = status.findings(&|path| path.file_name().expect("a name").to_string_lossy().into_owned());
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].what, "the block in AGENTS.md is that of the session s2, not of s1");
    let next = "`plywood overlay refresh AGENTS.md --session s1 --target source` puts that of s1";
    assert!(findings[0].next.contains(next), "{findings:?}");
    // The first one ends, and says why the block is still there.
    let owner = first.process().me();
    let change = scene.overlay(first.process()).end("s1", Some(&owner), NOW).expect("ended");
    assert_eq!(
        (change.word(), &*change.notes),
        ("unchanged", &["the block in it is that of the session s2, and stays".to_owned()][..])
    );
    // Without a session, whoever asks for it gets the block out, and is told whose it was.
    let change = scene.overlay(world).strip_source().expect("stripped");
    assert!(change.notes[0].starts_with("the block was that of the session s2 of process "), "{change:?}");
    let findings = scene.overlay(world).status(None).findings(&|_| "AGENTS.md".into());
    assert_eq!(findings[0].what, "the session s2 has lost its block in AGENTS.md");
    assert_eq!(scene.source().as_deref(), Some("# rules\n"));
}

#[test]
fn a_block_that_somebody_has_edited_is_left_to_whoever_lives() {
    let scene = Scene::new(Some("# rules\n"));
    let [mut first, mut second] = Side::two(&scene);
    let cleaner = Process::new(&scene.living, 0, Fault::None);
    second.apply();
    first.apply();
    first.die();
    let edited = scene.source().expect("there").replace("Session ID", "Session, edited");
    fs::write(&scene.site.source, &edited).expect("written");
    scene.overlay(&cleaner).clean(NOW).expect("cleaned");
    assert_eq!(scene.source(), Some(edited));
    // Nobody lives any more who could need it.
    second.die();
    scene.overlay(&cleaner).clean(NOW).expect("cleaned");
    assert_eq!(scene.source().as_deref(), Some("# rules\n"));
    // Line ends that a program has changed are no edit.
    first.apply();
    let text = scene.source().expect("there").replace('\n', "\r\n");
    fs::write(&scene.site.source, text).expect("written");
    assert_eq!(scene.overlay(first.process()).status(None).sessions[0].own, Some(true));
}

#[test]
fn the_id_of_a_session_that_ended_is_free_for_another_file() {
    let mut scene = Scene::new(Some("# rules\n"));
    let process = Process::new(&scene.living, 0, Fault::None);
    Act::ApplySession.run(&scene, &process).expect("applied");
    let (rules, other) = (scene.site.source.clone(), scene.site.workspace.join("OTHER.md"));
    fs::write(&other, "# other\n").expect("written");
    scene.site.source = other.clone();
    for act in [Act::ApplySession, Act::ApplyInSource, Act::EndSession] {
        let told = act.run(&scene, &process).expect_err("it goes on").to_string();
        assert_eq!(told, format!("the session s1 belongs to another file: {}", rules.display()));
    }
    scene.site.source = rules.clone();
    Act::EndSession.run(&scene, &process).expect("ended");
    scene.site.source = other;
    // It is another session, and not the old one that goes on.
    Act::EndSession.run(&scene, &process).expect("nothing to end");
    let wanted = Record { began: "2026-05-01T09:00:00Z".into(), ..scene.record(&process, Target::Session) };
    let (change, record) = scene.overlay(&process).apply(&wanted, &texts()).expect("applied");
    assert_eq!((change.word(), record.resumed, &*record.began), ("created", 0, "2026-05-01T09:00:00Z"));
    // Now it is the first file that it does not belong to.
    scene.site.source = rules;
    assert!(matches!(Act::ApplySession.run(&scene, &process), Err(Trouble::OtherFile { .. })));
}

#[cfg(unix)]
#[test]
fn where_nothing_can_be_written_no_session_is_left_on_record() {
    let scene = Scene::new(Some("# rules\n"));
    let process = Process::new(&scene.living, 0, Fault::None);
    let second = scene.site.source.with_extension("second");
    fs::hard_link(&scene.site.source, &second).expect("a second name");
    let told = Act::ApplyInSource.run(&scene, &process).expect_err("it has two names").to_string();
    assert!(told.ends_with("it has 2 names (hard links), which writing would part"), "{told}");
    assert_eq!(scene.files(), ["AGENTS.md", "AGENTS.second"]);
    // One that goes on is what it was.
    fs::remove_file(&second).expect("removed");
    Act::ApplyInSource.run(&scene, &process).expect("applied");
    let record = scene.site.sessions.as_ref().expect("there are").record("s1");
    let before = fs::read(&record).expect("there");
    fs::hard_link(&scene.site.source, &second).expect("a second name");
    let texts = Texts { block: block().replace("s1", "s1, later"), ..texts() };
    let again = scene.overlay(&process).apply(&scene.record(&process, Target::Source), &texts);
    assert!(again.is_err());
    assert_eq!(fs::read(&record).expect("there"), before);
}
