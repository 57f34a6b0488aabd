//! Locks, held and dead and without an owner.

use std::fs;
use std::sync::atomic::AtomicUsize;
use std::thread;

use super::*;
use crate::io::overlay::world::Machine;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn lock(&self) -> PathBuf {
        self.0.path().join("locks/overlay")
    }

    /// Puts a lock there as somebody else would have.
    fn put(&self, record: &str) -> &Folder {
        fs::create_dir_all(self.0.path().join("locks")).expect("made");
        fs::write(self.lock(), record).expect("written");
        self
    }

    fn aged(&self, by: Duration, ahead: bool) -> &Folder {
        let now = SystemTime::now();
        let at = if ahead { now + by } else { now - by };
        fs::File::open(self.lock()).and_then(|lock| lock.set_modified(at)).expect("it has a time");
        self
    }

    fn take(&self, patience: u64) -> Result<Lock<'static>, NoLock> {
        Lock::take(&Machine, &self.lock(), "test", Duration::from_millis(patience))
    }

    fn names(&self) -> Vec<String> {
        let list = Machine.list(&self.0.path().join("locks")).expect("listed");
        list.iter().map(|name| name.to_string_lossy().into_owned()).collect()
    }
}

fn dead() -> String {
    format!(r#"{{"pid":{},"mark":"m1","what":"apply"}}"#, i32::MAX)
}

#[test]
fn a_lock_names_its_owner_and_goes_with_it() {
    let folder = Folder::new();
    let lock = folder.take(0).expect("free");
    let State::Held(record) = look(&Machine, &folder.lock()).expect("read") else { panic!("it is held") };
    assert_eq!((record.owner, &*record.what), (Machine.me(), "test"));
    assert_eq!(folder.names(), ["overlay"]);
    let busy = folder.take(30).expect_err("held").to_string();
    assert!(busy.contains(&format!(": process {} (test) has it", std::process::id())), "{busy}");
    assert!(lock.is_ours());
    lock.release().expect("released");
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn the_lock_of_a_dead_process_is_taken_over_at_once() {
    let folder = Folder::new();
    let lock = folder.put(&dead()).take(0);
    assert!(
        matches!(&lock, Err(NoLock::Busy { state, .. }) if matches!(**state, State::Dead(_))),
        "without patience it is not tried twice"
    );
    let lock = folder.put(&dead()).take(5_000).expect("taken over");
    assert_eq!(folder.names(), ["overlay"]);
    drop(lock);
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn a_number_that_was_given_again_does_not_keep_a_lock() {
    if owner::KNOWS_START {
        let record = format!(r#"{{"pid":{},"start":"1-0"}}"#, std::process::id());
        Folder::new().put(&record).take(5_000).expect("taken over");
    }
}

#[test]
fn a_lock_without_an_owner_is_taken_away_when_it_is_old() {
    let (young, old) = (OWNERLESS - Duration::from_secs(10), OWNERLESS + Duration::from_secs(1));
    for record in ["", "not JSON", r#"{"pid":"x"}"#, "{}"] {
        let folder = Folder::new();
        let told = folder.put(record).aged(young, false).take(0).expect_err("young").to_string();
        assert!(told.contains("it has no owner, and is taken away when it is 30 s old (2"), "{told}");
        assert!(folder.aged(young, true).take(0).is_err(), "a little ahead: two machines, two clocks");
        folder.aged(old, false).take(5_000).expect("old");
        folder.put(record).aged(old, true).take(5_000).expect("the clock has jumped back");
    }
}

#[test]
fn a_folder_is_a_lock_too() {
    let folder = Folder::new();
    fs::create_dir_all(folder.lock()).expect("made");
    assert!(folder.take(0).is_err(), "it is young");
    let owner = folder.lock().join("owner.json");
    fs::write(&owner, format!(r#"{{"pid":{},"ts":1}}"#, std::process::id())).expect("written");
    let told = folder.take(0).expect_err("its owner lives").to_string();
    assert!(told.contains(&format!("process {} has it", std::process::id())), "{told}");
    fs::write(&owner, format!(r#"{{"pid":{}}}"#, i32::MAX)).expect("written");
    drop(folder.take(5_000).expect("its owner is dead"));
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn another_machines_lock_is_nobodys_to_take() {
    let far = r#"{"pid":1,"host":"somewhere-else"}"#;
    let told = Folder::new().put(far).take(0).expect_err("far away").to_string();
    assert!(told.ends_with("process 1 of somewhere-else has it"), "{told}");
}

#[test]
fn only_the_owner_releases() {
    let folder = Folder::new();
    let lock = folder.take(0).expect("free");
    let other = format!(r#"{{"pid":{},"mark":"other"}}"#, std::process::id());
    folder.put(&other);
    assert!(!lock.is_ours());
    let told = lock.release().expect_err("not ours").to_string();
    assert!(told.ends_with("somebody has taken it away"), "{told}");
    assert_eq!(fs::read_to_string(folder.lock()).expect("it stays"), other);
}

#[test]
fn a_claim_of_a_dead_process_is_taken_away_too() {
    let folder = Folder::new();
    folder.put(&dead());
    // It died while it took the lock away, and so did the one that took its claim away.
    let locks = folder.lock().with_file_name("x");
    fs::write(locks.with_file_name("claim-m1"), dead().replace("m1", "m2")).expect("written");
    fs::write(locks.with_file_name("claim-m2"), dead().replace("m1", "m3")).expect("written");
    drop(folder.take(5_000).expect("taken over"));
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn whoever_looked_too_long_ago_takes_nothing_away() {
    let folder = Folder::new();
    folder.put(&dead());
    let lock = folder.take(5_000).expect("taken over");
    // The other one judged the dead lock a moment ago, and goes on only now.
    take_away(&Machine, &folder.lock(), "late", 0).expect("looked at");
    assert!(lock.is_ours());
    assert_eq!(folder.names(), ["overlay"]);
}

#[test]
fn of_many_that_find_a_dead_owner_one_wins_at_a_time() {
    let folder = Folder::new();
    let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    for _ in 0..8 {
        folder.put(&dead());
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let lock = folder.take(60_000).expect("in the end it is free");
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    lock.release().expect("ours");
                });
            }
        });
    }
    assert_eq!(most.load(Ordering::SeqCst), 1);
    assert_eq!(folder.names(), Vec::<String>::new());
}
