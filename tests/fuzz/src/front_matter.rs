//! Prompt files: a text or at least one error, every place inside of the file, and a text that is read as itself.

use rawr_core::prompt::PromptName;
use rawr_settings::problem::{FileProblem, ProblemSeverity, RenderMode, positions, render};
use rawr_settings::prompts::parse;
use std::path::Path;

/// The first byte says which prompt it is.
pub fn run(data: &[u8]) {
    let Some((name, source)) = data.split_first() else { return };
    let Ok(source) = std::str::from_utf8(source) else { return };
    let name = PromptName::ALL[usize::from(*name) % PromptName::ALL.len()];
    match parse(name, source, Some(Path::new("a.md"))) {
        Ok(parsed) => {
            check_problems(source, &parsed.problems);
            assert!(source.contains(&parsed.text), "the text is not the file's");
            assert!(!parsed.text.trim().is_empty(), "a prompt without text is in force");
            assert_eq!(parsed.text.trim_end(), parsed.text);
            if !parsed.text.trim_start_matches('\u{feff}').starts_with("---") {
                let again = parse(name, &parsed.text, None).map(|again| again.text);
                assert_eq!(again, Ok(parsed.text), "read again");
            }
        }
        Err(problems) => {
            check_problems(source, &problems);
            assert!(
                problems.iter().any(|problem| problem.severity == ProblemSeverity::Error),
                "refused without a reason"
            );
        }
    }
}

/// Each problem can be shown, and its place is one.
pub fn check_problems(source: &str, problems: &[FileProblem]) {
    for problem in problems {
        if let Some(span) = &problem.span {
            assert!(span.start <= span.end, "{problem:?}");
            assert!(span.end <= source.len(), "{problem:?} is behind the end {}", source.len());
            let place = positions(source, span);
            assert!(place.start <= place.end, "{problem:?}");
        }
        let shown = render(problem, Some(source), RenderMode::Plain);
        let steers = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
        assert!(!shown.contains(steers), "{shown:?} steers the terminal");
    }
}
