//! Goals, each a ratio to a peer of the same run, because absolute times mean nothing on another machine. A missed goal
//! must not fail a run.

use serde_json::{Value, json};

use crate::report::{
    BARE_SAVE, BARE_SOCKET, BARE_SYNC, BARE_WATCH, BARE_WRITE, EXACT, LOWERCASE, Measure,
    OTHER_TOKENIZER, PIECES, PYTHON, Report, SPLIT_LINES, short,
};

enum RatioBound {
    AtMost(f64),
    AtLeast(f64),
}
use Measure::{
    Append, Count, Durable, Grow, Hear, Heard, Live, Pipelined, Records, Replay, RoundTrip, Saved,
    Start, Typed,
};
use RatioBound::{AtLeast, AtMost};

struct RatioGoal(Measure, &'static str, &'static str, &'static str, &'static str, RatioBound);

/// Measure, variant, server, cell, base, bound of the ratio.
const GOALS: &[RatioGoal] = &[
    RatioGoal(Start, "free", "rawr-usage", "ms", "copy", AtMost(1.5)),
    RatioGoal(Start, "free", "rawr-usage", "ms", "vscode-jsonrpc", AtMost(0.025)),
    RatioGoal(RoundTrip, "pinned", "rawr-usage", "p50Us", "cat", AtMost(2.7)),
    RatioGoal(RoundTrip, "pinned", "rawr-usage", "p50Us", "lsp-server", AtMost(0.5)),
    RatioGoal(RoundTrip, "pinned", "rawr-usage", "p50Us", "vscode-jsonrpc", AtMost(0.6)),
    RatioGoal(RoundTrip, "pinned", "rawr-usage", "p99Us", "lsp-server", AtMost(0.45)),
    RatioGoal(RoundTrip, "pinned", "rawr-usage", "cpuUs", "lsp-server", AtMost(0.32)),
    RatioGoal(RoundTrip, "free", "rawr-usage", "p50Us", "lsp-server", AtMost(1.05)),
    RatioGoal(RoundTrip, "free", "rawr-usage", "p99Us", "lsp-server", AtMost(1.05)),
    RatioGoal(Pipelined, "window 64", "rawr-usage", "kPerS", "lsp-server", AtLeast(4.5)),
    RatioGoal(Pipelined, "window 64", "rawr-usage", "kPerS", "vscode-jsonrpc", AtLeast(2.2)),
    RatioGoal(Pipelined, "window 1024", "rawr-usage", "kPerS", "lsp-server", AtLeast(6.0)),
    RatioGoal(Pipelined, "window 1024", "rawr-usage", "kPerS", "vscode-jsonrpc", AtLeast(3.0)),
    RatioGoal(Pipelined, "window 64", "rawr-count", "kPerS", "vscode-jsonrpc", AtLeast(3.4)),
    RatioGoal(Pipelined, "window 1024", "rawr-usage", "idleMb", "vscode-jsonrpc", AtMost(0.08)),
    RatioGoal(Pipelined, "window 1024", "rawr-usage", "afterMb", "vscode-jsonrpc", AtMost(0.085)),
    RatioGoal(Durable, "in turn", "rawr", "p50Us", BARE_SYNC, AtMost(1.3)),
    RatioGoal(Heard, "free", "rawr", "p50Us", BARE_WATCH, AtMost(6.0)),
    RatioGoal(Typed, "free", "event", "p50Us", BARE_SOCKET, AtMost(8.0)),
    RatioGoal(Typed, "free", "typed message", "p50Us", BARE_SOCKET, AtMost(80.0)),
    RatioGoal(Saved, "in place", "rawr", "p50Us", BARE_SAVE, AtMost(4.0)),
    RatioGoal(Saved, "renamed over", "rawr", "p50Us", BARE_SAVE, AtMost(4.0)),
    RatioGoal(Live, "free", "beside 99", "p99Us", "alone", AtMost(2.0)),
    RatioGoal(Live, "free", "beside a busy one", "p99Us", "alone", AtMost(2.0)),
    RatioGoal(Append, "in process", "store", "meanUs", BARE_WRITE, AtMost(5.0)),
    RatioGoal(Replay, "in process", "store", "mbPerS", SPLIT_LINES, AtLeast(0.075)),
    RatioGoal(Count, "in process", EXACT, "mbPerS", OTHER_TOKENIZER, AtLeast(3.0)),
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
            let found = report.ratio(row, cell, base)?;
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
