//! Goals, each a ratio to a peer of the same run, because absolute times mean nothing on another machine; memory, and what has no
//! peer, are bounded as such. A missed goal must not fail a run.

use serde_json::{Value, json};

use crate::report::{
    BARE_SAVE, BARE_SOCKET, BARE_WATCH, BARE_WRITE, BINARY, COPY_TO_ITS_END, EXACT, IDLE_HOOK,
    LOWERCASE, Measure, OTHER_TOKENIZER, PIECES, PYTHON, Report, SPLIT_LINES, SYNCED_ECHO, short,
};

enum RatioBound {
    AtMost(f64),
    AtLeast(f64),
}
use Measure::{
    Append, Count, Durable, Grow, Hear, Heard, Live, Pipelined, Records, Replay, RoundTrip, Saved,
    Size, Start, Stored, Typed,
};
use RatioBound::{AtLeast, AtMost};

struct RatioGoal(Measure, &'static str, &'static str, &'static str, &'static str, RatioBound);

/// The cell itself is bounded, not its ratio.
const ITSELF: &str = "-";

/// Measure, variant, server, cell, base, bound of the ratio.
const GOALS: &[RatioGoal] = &[
    RatioGoal(Start, "free", "rawr-usage", "ms", "copy", AtMost(1.8)),
    RatioGoal(Start, "free", IDLE_HOOK, "ms", COPY_TO_ITS_END, AtMost(2.5)),
    RatioGoal(Start, "free", "rawr-usage", "ms", "vscode-jsonrpc", AtMost(0.025)),
    RatioGoal(RoundTrip, "pinned", "rawr-usage", "p50Us", "cat", AtMost(2.7)),
    RatioGoal(RoundTrip, "pinned", "rawr-usage", "p50Us", "lsp-server", AtMost(0.42)),
    RatioGoal(RoundTrip, "pinned", "rawr-usage", "p50Us", "vscode-jsonrpc", AtMost(0.6)),
    RatioGoal(RoundTrip, "pinned", "rawr-usage", "p99Us", "lsp-server", AtMost(0.45)),
    RatioGoal(RoundTrip, "pinned", "rawr-usage", "cpuUs", "lsp-server", AtMost(0.35)),
    RatioGoal(RoundTrip, "free", "rawr-usage", "p50Us", "lsp-server", AtMost(1.05)),
    RatioGoal(RoundTrip, "free", "rawr-usage", "p99Us", "lsp-server", AtMost(1.05)),
    RatioGoal(Pipelined, "window 64", "rawr-usage", "kPerS", "jsonrpsee", AtLeast(0.52)),
    RatioGoal(Pipelined, "window 64", "rawr-usage", "kPerS", "vscode-jsonrpc", AtLeast(2.2)),
    RatioGoal(Pipelined, "window 1024", "rawr-usage", "kPerS", "jsonrpsee", AtLeast(0.47)),
    RatioGoal(Pipelined, "window 1024", "rawr-usage", "kPerS", "vscode-jsonrpc", AtLeast(3.0)),
    RatioGoal(Pipelined, "window 64", "rawr-count", "kPerS", "vscode-jsonrpc", AtLeast(3.4)),
    RatioGoal(Pipelined, "window 64", "rawr-usage", "privateMb", ITSELF, AtMost(0.7)),
    RatioGoal(Pipelined, "window 64", "rawr-usage", "idleMb", ITSELF, AtMost(8.0)),
    RatioGoal(Live, "free", "beside 99", "privateMb", ITSELF, AtMost(2.0)),
    RatioGoal(Stored, "free", "1000 threads stored", "watchMs", ITSELF, AtMost(15.0)),
    RatioGoal(Stored, "free", "1000 threads stored", "listMs", ITSELF, AtMost(15.0)),
    RatioGoal(Size, "stripped", BINARY, "totalMb", ITSELF, AtMost(13.0)),
    RatioGoal(Durable, "in turn", "rawr", "p50Us", SYNCED_ECHO, AtMost(1.1)),
    RatioGoal(Heard, "free", "rawr", "p50Us", BARE_WATCH, AtMost(6.0)),
    RatioGoal(Typed, "free", "event", "p50Us", BARE_SOCKET, AtMost(8.0)),
    RatioGoal(Typed, "free", "typed message", "p50Us", BARE_SOCKET, AtMost(80.0)),
    RatioGoal(Saved, "in place", "rawr", "p50Us", BARE_SAVE, AtMost(4.0)),
    RatioGoal(Saved, "renamed over", "rawr", "p50Us", BARE_SAVE, AtMost(4.0)),
    RatioGoal(Live, "free", "beside 99", "p99Us", "alone", AtMost(2.0)),
    RatioGoal(Live, "free", "beside a busy one", "p99Us", "alone", AtMost(2.0)),
    RatioGoal(Append, "in process", "store", "meanUs", BARE_WRITE, AtMost(5.0)),
    RatioGoal(Replay, "in process", "store", "mbPerS", SPLIT_LINES, AtLeast(0.227)),
    RatioGoal(Count, "in process", EXACT, "mbPerS", OTHER_TOKENIZER, AtLeast(6.0)),
    RatioGoal(Grow, "in process", EXACT, "meanUs", PIECES, AtMost(1.4)),
    RatioGoal(Hear, "in process", "claim", "meanUs", LOWERCASE, AtMost(2.4)),
    RatioGoal(Hear, "in process", "next message", "meanUs", LOWERCASE, AtMost(0.5)),
    RatioGoal(Records, "in process", "all cores", "mbPerS", PYTHON, AtLeast(4.0)),
];

/// A goal and the measured ratio.
#[derive(Debug)]
pub struct GoalVerdict {
    what: [&'static str; 5],
    bound: String,
    found: f64,
    met: bool,
}

/// Every goal that the run has both rows for.
pub fn judge(report: &Report) -> Vec<GoalVerdict> {
    let judged =
        GOALS.iter().filter_map(|RatioGoal(measure, variant, server, cell, base, bound)| {
            let row = report.row(*measure, variant, server)?;
            let found = match *base {
                ITSELF => row.cell(cell)?,
                base => report.ratio(row, cell, base)?,
            };
            let (bound, met) = match bound {
                AtMost(most) => (format!("<= {}", short(Some(*most))), found <= *most),
                AtLeast(least) => (format!(">= {}", short(Some(*least))), found >= *least),
            };
            Some(GoalVerdict {
                what: [server, variant, measure.name(), cell, base],
                bound,
                found,
                met,
            })
        });
    judged.collect()
}

impl GoalVerdict {
    pub fn header() -> Vec<String> {
        ["server", "how", "measure", "cell", "to", "goal", "found", ""].map(str::to_owned).to_vec()
    }

    pub fn line(&self) -> Vec<String> {
        let mut line: Vec<String> = self.what.map(str::to_owned).to_vec();
        let word = if self.met { "met" } else { "MISSED" };
        line.extend([self.bound.clone(), short(Some(self.found)), word.to_owned()]);
        line
    }

    pub fn json(&self) -> Value {
        let [server, variant, measure, cell, base] = self.what;
        json!({
            "event": "goal", "server": server, "variant": variant, "measure": measure, "cell": cell,
            "base": base, "goal": self.bound, "found": self.found, "met": self.met,
        })
    }
}
