//! What a thread is called. Pure.

use rawr_protocol::ThreadSummary;

use super::palette::WIDTH;
use rawr_host::text::one_line;

/// A short name for a thread: the end of its id, because the ids of one day begin alike.
pub fn handle(thread_id: &str) -> &str {
    const LETTERS: usize = 4;
    const LONG: usize = 8;
    let count = thread_id.chars().count();
    let skipped = if count > LONG { count - LETTERS } else { 0 };
    let from = thread_id.char_indices().nth(skipped).map_or(0, |(at, _)| at);
    // What begins with a dash would be an option on the command line.
    let mut starts = (0..=from).rev().filter(|at| thread_id.is_char_boundary(*at));
    starts.find(|at| !thread_id[*at..].starts_with('-')).map_or(thread_id, |at| &thread_id[at..])
}

/// The handles of the threads in `shown`, each long enough to name one of `all`.
pub fn handles<'t>(shown: &[&'t str], all: &[&str]) -> Vec<&'t str> {
    let is_clear = |name: &str| {
        all.iter().filter(|id| id.starts_with(name) || id.ends_with(name)).count() == 1
    };
    let of = |id: &&'t str| {
        let first = id.len() - handle(id).len();
        let mut starts = (0..=first).rev().filter(|at| id.is_char_boundary(*at));
        starts
            .find(|at| is_clear(&id[*at..]) && !id[*at..].starts_with('-'))
            .map_or(*id, |at| &id[at..])
    };
    shown.iter().map(of).collect()
}

/// The handle and the title.
pub fn thread_name(thread: &ThreadSummary) -> String {
    let handle = one_line(handle(&thread.thread_id), WIDTH);
    match &thread.title {
        Some(title) => format!("{handle} ({})", one_line(title, WIDTH)),
        None => handle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_names_one_thread_and_is_no_option() {
        let all = ["019a-5420-94ace", "019b-5421-04ace", "demo-18ac-8a5", "short"];
        assert_eq!(handles(&all, &all), ["94ace", "04ace", "c-8a5", "short"]);
        assert_eq!(handles(&all[2..], &all), ["c-8a5", "short"]);
        assert_eq!(all.map(handle), ["4ace", "4ace", "c-8a5", "short"]);
    }
}
