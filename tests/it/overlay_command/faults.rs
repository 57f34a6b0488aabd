//! What harms no file: a lock that somebody has, a disk that is full, a process that is killed, and several at once.

use super::*;

#[test]
fn a_held_lock_is_told_with_its_owner_after_the_time_that_is_given() {
    let project = Project::new();
    let pid = std::process::id();
    project.put(".omx/locks/overlay", &format!(r#"{{"pid":{pid},"what":"apply"}}"#));
    let ran = project.run("apply", &["--wait", "0", "--target", "source"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains(&format!("process {pid} (apply) has it")), "{}", ran.stderr);
    assert_eq!(project.text("AGENTS.md").as_deref(), Some(RULES));
    assert!(project.text(".omx/locks/overlay").is_some(), "it is not ours to remove");
}

#[test]
fn a_disk_that_takes_no_more_leaves_the_file_as_it_was() {
    let project = Project::new();
    let rules = RULES.repeat(200);
    project.put("AGENTS.md", &rules);
    // No file may get larger than one block of 512 or 1,024 bytes; the signal that says so is ignored.
    let program = env!("CARGO_BIN_EXE_plywood");
    let script =
        format!("trap '' XFSZ; ulimit -f 1; exec '{program}' overlay apply AGENTS.md --target source");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script])
        .current_dir(project.0.path())
        .env("HOME", "/nonexistent")
        .stdin(Stdio::null());
    let output = shell.output().expect("a shell");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: AGENTS.md: "), "{output:?}");
    assert_eq!(project.text("AGENTS.md"), Some(rules));
    assert!(project.files().iter().all(|file| !file.ends_with(".tmp")), "{:?}", project.files());
    assert!(project.text(".omx/locks/overlay").is_none());
}

/// Numbers that look random, the same in every run of the tests.
fn random(seed: &AtomicU64) -> u64 {
    let mut x = seed.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[test]
fn whoever_is_killed_at_any_moment_harms_no_file() {
    const KILLS: usize = 200;
    let seed = AtomicU64::new(7);
    let clock = Instant::now();
    let args = ["--target", "source", "--session", "s-1", "--now", "2026-04-01T09:00:00Z"];
    let probe = Project::new();
    let before = Instant::now();
    assert_eq!(probe.run("apply", &args).status, 0);
    let applied = probe.text("AGENTS.md").expect("there");
    // How long it takes here, to hit every part of it.
    let whole = before.elapsed();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let project = Project::new();
                for number in 0..KILLS / 2 {
                    let action =
                        if project.text("AGENTS.md").as_deref() == Some(RULES) { "apply" } else { "strip" };
                    let mut command = project.command(action, &args);
                    let mut child =
                        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
                    // The files are written towards the end.
                    let part = if number % 4 == 0 { random(&seed) % 100 } else { 50 + random(&seed) % 60 };
                    std::thread::sleep(whole.mul_f64(part as f64 / 100.0));
                    child.kill().expect("killed");
                    child.wait().expect("it ends");
                    let text = project.text("AGENTS.md").expect("it is there at every moment");
                    assert!(text == RULES || text == applied, "kill {number}: {text:?}");
                }
                // The next run clears what is left and waits for nobody.
                let wait = [&args[..], &["--wait", "1"]].concat();
                for (action, want) in [("apply", &*applied), ("strip", RULES)] {
                    let ran = project.run(action, &wait);
                    assert_eq!((ran.status, &*ran.stderr), (0, ""));
                    assert_eq!(project.text("AGENTS.md").as_deref(), Some(want));
                }
                project.run("clean", &[]);
                assert_eq!(project.files(), [".omx/state/sessions/s-1/overlay.json", "AGENTS.md"]);
            });
        }
    });
    eprintln!("{KILLS} kills in {:.1} s", clock.elapsed().as_secs_f64());
}

#[test]
fn a_watch_that_is_killed_is_told_with_what_to_do_and_cleaned() {
    let project = Project::new();
    let mut command = project.command("watch", &["--target", "source", "--session", "s-1"]);
    let mut child = command.stdout(Stdio::null()).spawn().expect("it starts");
    until("the overlay is applied", || project.text("AGENTS.md").is_some_and(|text| text.contains(START)));
    child.kill().and_then(|()| child.wait()).expect("killed");
    let ran = project.run("status", &[]);
    let pid = child.id();
    let told = format!(
        "found    the session s-1 is stale: process {pid} is dead\n         `plywood overlay clean AGENTS.md` ends it, \
         `plywood overlay apply AGENTS.md --session s-1 --target source` goes on with it\n"
    );
    assert!(ran.status == 1 && ran.stdout.ends_with(&told), "{ran:?}");
    let ran = project.run("clean", &[]);
    let of = format!("(session s-1 of process {pid}, which is dead)\n");
    assert_eq!(ran.stdout, format!("took the block out of AGENTS.md  {of}"));
    assert_eq!(project.text("AGENTS.md").as_deref(), Some(RULES));
    assert_eq!(project.run("status", &[]).status, 0);
}

/// For 20 seconds; `PLYWOOD_SOAK_SECONDS` is another time.
#[test]
fn four_processes_at_once_leave_one_block_or_none() {
    let seconds = std::env::var("PLYWOOD_SOAK_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let end = Instant::now() + Duration::from_secs(seconds);
    let project = Project::new();
    let seed = AtomicU64::new(11);
    let runs = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (project, seed, runs) = (&project, &seed, &runs);
            scope.spawn(move || {
                let session = format!("s-{number}");
                while Instant::now() < end {
                    let action = if random(seed).is_multiple_of(3) { "strip" } else { "apply" };
                    let args = ["--target", "source", "--session", &session, "--wait", "60"];
                    if random(seed).is_multiple_of(10) {
                        let mut command = project.command(action, &args);
                        let mut child =
                            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
                        std::thread::sleep(Duration::from_millis(random(seed) % 60));
                        child.kill().expect("killed");
                        child.wait().expect("it ends");
                    } else {
                        let ran = project.run(action, &args);
                        assert_eq!((ran.status, &*ran.stderr), (0, ""));
                    }
                    let text = project.text("AGENTS.md").expect("it is there at every moment");
                    assert!(text.starts_with(RULES), "{text:?}");
                    assert!(text.matches(START).count() <= 1, "{text:?}");
                    assert_eq!(text.matches(START).count(), text.matches(":END -->").count(), "{text:?}");
                    runs.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert!(runs.load(Ordering::Relaxed) >= 4);
    // The block is that of the session that wrote it last; the end of any other leaves it.
    for number in 0..4 {
        let session = format!("s-{number}");
        assert_eq!(project.run("strip", &["--target", "source", "--session", &session]).status, 0);
    }
    assert_eq!(project.text("AGENTS.md").as_deref(), Some(RULES));
    project.run("clean", &[]);
    let left: Vec<String> =
        project.files().into_iter().filter(|file| !file.ends_with("/overlay.json")).collect();
    assert_eq!(left, ["AGENTS.md"]);
}
