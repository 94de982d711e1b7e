//! Renders what came of policy tests: a line for each, and for one that failed what was expected, what happened and why.
//! Pure. Colors are always written; the output stream removes them if they are disabled.

use rawr_analysis::policy_tests::{
    PlacedDecision, PolicyTestName, PolicyTestResult, ScenarioOutcome,
};
use rawr_host::text::{one_line, sanitize_terminal};

use super::palette::{BAD, BOLD, DIM, GOOD, WARN, WIDTH, paint};
use super::text::wrapped;

/// The name of a test and where it is.
pub(crate) fn name(test: &PolicyTestName) -> String {
    format!("{}  {}", sanitize_terminal(&test.name), paint(DIM, &place(test)))
}

/// One line for a test that passed; for one that failed also why.
pub(crate) fn result(result: &PolicyTestResult) -> Vec<String> {
    let name = sanitize_terminal(&result.test.name);
    if result.passed {
        return vec![format!("{}      {name}", paint(GOOD, "ok"))];
    }
    let mut lines = vec![format!("{}  {}", paint(BAD.bold(), "FAILED"), paint(BOLD, &name))];
    lines.extend(why(result).iter().map(|line| format!("        {line}")));
    lines
}

/// How many tests passed and failed.
pub(crate) fn summary(tests: usize, failed: usize) -> Vec<String> {
    let count = if tests == 1 { "1 test".to_owned() } else { format!("{tests} tests") };
    let line = match failed {
        0 => paint(GOOD, &format!("{count}: all ok")),
        failed => {
            format!("{count}: {} ok, {}", tests - failed, paint(BAD, &format!("{failed} failed")))
        }
    };
    vec![String::new(), line]
}

/// Where it is, what was expected, what happened, and each decision with the gates that failed.
pub(super) fn why(result: &PolicyTestResult) -> Vec<String> {
    let mut lines = vec![paint(DIM, &place(&result.test))];
    for expected in result.expected.iter().filter(|expected| !expected.met) {
        lines.push(format!("expected  {}", expected.text));
    }
    lines.push(format!("happened  {}", one_line(&result.happened, WIDTH)));
    let mut before = 0;
    for decision in &result.decisions {
        if decision.step != before {
            before = decision.step;
            let step = before.checked_sub(1).and_then(|at| result.steps.get(at));
            let step = step.map_or_else(String::new, |step| one_line(step, WIDTH - 8));
            lines.push(format!("step {before:<4} {}", paint(DIM, &step)));
        }
        lines.extend(decided(decision));
    }
    lines
}

fn decided(decision: &PlacedDecision) -> Vec<String> {
    let style = match decision.makes {
        ScenarioOutcome::Compact => GOOD,
        ScenarioOutcome::Propose => WARN,
        ScenarioOutcome::Nothing => DIM,
    };
    let headline = one_line(&decision.headline(), 2 * WIDTH);
    let headline = wrapped(&headline, WIDTH).into_iter();
    let mut lines: Vec<_> =
        headline.map(|line| format!("          {}", paint(style, &line))).collect();
    for failed in &decision.decision.failed {
        let heads = [format!("{} {:<15}", paint(BAD, "✗"), failed.gate.name())];
        let heads = heads.into_iter().chain(std::iter::repeat(" ".repeat(17)));
        let evidence = wrapped(&one_line(&failed.evidence, 2 * WIDTH), WIDTH);
        let evidence = evidence.iter().zip(heads);
        lines.extend(evidence.map(|(line, head)| format!("            {head} {line}")));
    }
    lines
}

fn place(test: &PolicyTestName) -> String {
    format!("{}:{}", one_line(&test.file, 10 * WIDTH), test.line)
}
