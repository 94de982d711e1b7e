//! Many saves at once: the last one wins, none is read half written, and memory use stays constant.

use super::{file, folder, start, text};
use rawr_protocol::methods::PromptChanged;
use rawr_tests::TestHome;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const SAVES: u32 = 1000;
const MOST_MEMORY: u64 = 64 << 20;

fn content(save: u32) -> String {
    format!("Summary {save}.\n{}The end of {save}.\n", "Keep what was decided.\n".repeat(400))
}

fn is_whole(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let number = first.strip_prefix("Summary ").and_then(|rest| rest.strip_suffix('.'));
    number
        .and_then(|number| number.parse().ok())
        .is_some_and(|save| text == content(save).trim_end())
}

fn in_place(path: &Path, text: &str) {
    let mut file = File::create(path).unwrap();
    for part in text.as_bytes().chunks(4096) {
        file.write_all(part).unwrap();
    }
}

fn renamed(path: &Path, text: &str) {
    let other = path.with_extension("new");
    fs::write(&other, text).unwrap();
    fs::rename(other, path).unwrap();
}

#[test]
fn after_a_thousand_saves_in_two_seconds_the_last_one_wins() {
    let home = TestHome::new();
    let mut sidecar = start(&home);
    let shipped = text(&mut sidecar);
    let (path, begun) = (file(&home), Instant::now());
    let writer = std::thread::spawn(move || {
        for save in 0..SAVES {
            let due = begun + Duration::from_millis(2) * save;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let way = if save % 2 == 0 { in_place } else { renamed };
            way(&path, &content(save));
        }
    });
    let mut seen = 0;
    let last = content(SAVES - 1);
    while text(&mut sidecar) != last.trim_end() {
        let found = text(&mut sidecar);
        assert!(found == shipped || is_whole(&found), "torn: {found}");
        seen += sidecar.take::<PromptChanged>().len();
        std::thread::sleep(Duration::from_millis(1));
    }
    writer.join().unwrap();
    text(&mut sidecar);
    seen += sidecar.take::<PromptChanged>().len();
    assert!(seen > 0);
    assert!(seen <= SAVES as usize, "{seen} reloads");
    assert!(sidecar.peak_memory() < MOST_MEMORY, "{} bytes", sidecar.peak_memory());
    assert!(folder(&home).join("compact.md").exists());
    sidecar.allow::<PromptChanged>();
    sidecar.leave();
}
