//! Chooses among the stored threads, archived or not, without a sidecar.

use std::cmp::Reverse;

use anyhow::bail;
use rawr_storage::store::archive::ThreadFolder;
use rawr_storage::store::maintenance::StoredThreads;

use super::threads::pick;

/// The threads with these names: ids, beginnings of them, or `last`. Without a name, all. `nothing` is the error where
/// there is none to choose from.
pub(super) fn chosen(
    threads: &StoredThreads,
    wanted: &[&str],
    nothing: &str,
) -> anyhow::Result<Vec<ThreadFolder>> {
    let places = threads.places()?;
    if wanted.is_empty() {
        return Ok(places);
    }
    if places.is_empty() {
        bail!("{nothing}");
    }
    let mut resting = Vec::new();
    for place in places {
        resting.push(threads.resting(place)?);
    }
    // Most recently used first, archived ones last.
    resting.sort_by_key(|one| (one.place.archived, Reverse(one.touched)));
    let mut ids: Vec<_> = resting.iter().map(|one| one.place.thread.as_str()).collect();
    ids.dedup();
    let picked = wanted.iter().map(|wanted| Ok(ids[pick(wanted, &ids)?].to_owned()));
    let picked = picked.collect::<anyhow::Result<Vec<_>>>()?;
    let places = resting.into_iter().map(|one| one.place);
    Ok(places.filter(|place| picked.iter().any(|id| id == place.thread.as_str())).collect())
}
