//! Renders problems for a terminal, with the lines of the file. Prints nothing.

use super::{FileProblem, ProblemSeverity, floor_boundary};
use annotate_snippets::{
    AnnotationKind, Group, Level, Origin, Renderer, Snippet, normalize_untrusted_str,
};

/// Whether to use colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenderMode {
    /// Without colors.
    Plain,
    /// With ANSI colors.
    Coloured,
}

/// `source` is the text that the span refers to. Without it, the position is omitted.
pub fn render(problem: &FileProblem, source: Option<&str>, look: RenderMode) -> String {
    let level = match problem.severity {
        ProblemSeverity::Error => Level::ERROR,
        ProblemSeverity::Warning => Level::WARNING,
        ProblemSeverity::Hint => Level::NOTE.with_name("hint"),
    };
    // Messages quote the file, which must not be able to control the terminal.
    let message = normalize_untrusted_str(&problem.message);
    let file =
        problem.file.as_ref().map(|file| normalize_untrusted_str(&file.display().to_string()));
    let mut group = Group::with_title(level.primary_title(message).id(problem.code));
    match (source, &problem.span) {
        (Some(source), Some(span)) => {
            let start = floor_boundary(source, span.start);
            let end = floor_boundary(source, span.end).max(start);
            let mark = AnnotationKind::Primary.span(start..end);
            group = group.element(Snippet::source(source).path(file).annotation(mark));
        }
        _ => {
            if let Some(file) = file {
                group = group.element(Origin::path(file));
            }
        }
    }
    if let Some(help) = problem.help.as_ref().map(ToString::to_string) {
        group = group.element(Level::HELP.message(normalize_untrusted_str(&help)));
    }
    let renderer = match look {
        RenderMode::Plain => Renderer::plain(),
        RenderMode::Coloured => Renderer::styled(),
    };
    // The renderer keeps these control characters, and some terminals interpret them.
    renderer.render(&[group]).replace(|letter| matches!(letter, '\u{7f}'..='\u{9f}'), "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::path::Path;

    fn check(problem: &FileProblem, source: Option<&str>, expected: Expect) {
        expected.assert_eq(&render(problem, source, RenderMode::Plain));
    }

    #[test]
    fn no_control_character_is_left() {
        let problem = FileProblem::error("a", "b\u{9b}31m\u{7f}c\u{1b}[2J");
        let shown = render(&problem, None, RenderMode::Plain);
        assert!(!shown.contains(|letter: char| letter.is_control() && letter != '\n'), "{shown:?}");
    }

    #[test]
    fn the_line_is_shown_with_its_position_and_the_help() {
        let source = "[features]\nrawr = true\n";
        let problem = FileProblem::warning("unknown-key", "unknown key `rawr` in `[features]`")
            .in_file(Some(Path::new("rawr.toml")))
            .at(11..15)
            .help("did you mean `rawr_auto_compaction`?".to_owned());
        check(
            &problem,
            Some(source),
            expect![[r#"
            warning[unknown-key]: unknown key `rawr` in `[features]`
             --> rawr.toml:2:1
              |
            2 | rawr = true
              | ^^^^
              |
              = help: did you mean `rawr_auto_compaction`?"#]],
        );
    }

    #[test]
    fn a_problem_without_a_position_names_its_file() {
        let problem = FileProblem::error("unreadable-file", "permission denied")
            .in_file(Some(Path::new("rawr.toml")));
        check(
            &problem,
            None,
            expect![[r#"
            error[unreadable-file]: permission denied
            --> rawr.toml"#]],
        );
    }

    #[test]
    fn file_contents_cannot_control_the_terminal() {
        let source = "\u{1b}[2J = 1";
        let problem = FileProblem::error("unknown-key", "unknown key `\u{1b}[2J`").at(0..4);
        for look in [RenderMode::Plain, RenderMode::Coloured] {
            let text = render(&problem, Some(source), look);
            assert!(!text.contains("\u{1b}[2J"), "{text:?}");
        }
    }

    #[test]
    fn a_span_that_no_longer_fits_still_renders() {
        for span in [0..0, 1..2, 5..900, 900..901] {
            let problem = FileProblem::hint("x", "y").at(span);
            assert!(render(&problem, Some("é"), RenderMode::Coloured).contains('y'));
            assert!(render(&problem, Some(""), RenderMode::Plain).contains('y'));
        }
    }
}
