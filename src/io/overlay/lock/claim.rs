//! Taking away the locks of the dead, so that one process at most takes away each.
//!
//! Whoever finds such a lock links a *claim* whose name holds the lock's own mark. A mark is used once, so whoever has the
//! claim and still finds that lock may take it away, and nobody who looked a moment ago can take away the next one. A claim
//! has an owner, too, and goes the same way when that one dies.

use std::io;
use std::path::Path;

use super::{State, create, look, mark, read};
use crate::io::overlay::temp;
use crate::io::overlay::world::World;

/// Claims of dead processes can be nested as deep as processes die in a row while they take one away.
const DEPTH: usize = 16;

/// Takes away the lock of a dead owner, or an old one without; at most one process does. Nothing happens where somebody
/// else is at it.
pub(super) fn take_away(world: &dyn World, path: &Path, what: &str, depth: usize) -> io::Result<()> {
    let gone = |state: &State| matches!(state, State::Dead(_) | State::Ownerless { old: true, .. });
    let Some((record, _)) = read(world, path)? else { return Ok(()) };
    if !gone(&look(world, path)?) || depth > DEPTH {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let claim = folder.join(format!("claim-{}", record.mark));
    if !create(world, &claim, what, &mark())? {
        return take_away(world, &claim, what, depth + 1);
    }
    // Only the owner of the claim may take away what has this mark, so what is found now stays until it does.
    let mut result = Ok(());
    if let Some((now, _)) = read(world, path)?
        && now.mark == record.mark
        && gone(&look(world, path)?)
    {
        let aside = temp::beside(world, path);
        result = world.rename(path, &aside).and_then(|()| world.remove(&aside));
    }
    let removed = world.remove(&claim);
    result.and(removed)
}

/// Takes away what dead processes left beside a lock: claims and files of a moment. Gives how many.
pub(in crate::io::overlay) fn tidy(world: &dyn World, path: &Path) -> usize {
    let Some(folder) = path.parent() else { return 0 };
    let claims = world.list(folder).unwrap_or_default();
    let claims = claims.iter().filter(|name| name.to_string_lossy().starts_with("claim-"));
    let mut count = 0;
    for claim in claims.map(|name| folder.join(name)) {
        let _ = take_away(world, &claim, "clean", 1);
        count += usize::from(world.about(&claim).is_err());
    }
    count + temp::tidy(world, folder)
}
