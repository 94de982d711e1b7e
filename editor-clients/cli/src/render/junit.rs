//! Renders what came of policy tests as a JUnit report, which continuous integration reads. Pure.

use std::fmt::Write as _;

use rawr_analysis::policy_tests::PolicyTestResult;

use super::policy_tests::why;
use super::text::plain;

/// The report, with a suite for each file.
pub(crate) fn report(results: &[PolicyTestResult]) -> String {
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let _ = writeln!(out, "<testsuites name=\"rawr test\" {}>", counts(results));
    for results in results.chunk_by(|a, b| a.test.file == b.test.file) {
        let file = results.first().map(|first| escaped(&first.test.file)).unwrap_or_default();
        let _ = writeln!(out, "  <testsuite name=\"{file}\" {}>", counts(results));
        for result in results {
            let name = escaped(&result.test.name);
            let line = result.test.line;
            let case = format!(
                "<testcase classname=\"{file}\" name=\"{name}\" file=\"{file}\" line=\"{line}\""
            );
            let _ = match result.passed {
                true => writeln!(out, "    {case}/>"),
                false => writeln!(out, "    {case}>\n{}    </testcase>", failure(result)),
            };
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn counts(results: &[PolicyTestResult]) -> String {
    let failed = results.iter().filter(|result| !result.passed).count();
    format!("tests=\"{}\" failures=\"{failed}\" errors=\"0\"", results.len())
}

fn failure(result: &PolicyTestResult) -> String {
    let unmet = result.expected.iter().filter(|expected| !expected.met);
    let unmet: Vec<_> = unmet.map(|expected| expected.text.as_str()).collect();
    let message = format!("expected {}; happened: {}", unmet.join(" and "), result.happened);
    let text = plain(&why(result).join("\n"));
    format!(
        "      <failure type=\"unexpected\" message=\"{}\">{}</failure>\n",
        escaped(&message),
        escaped(&text)
    )
}

/// Text for an element or an attribute. XML 1.0 has no way to write other control characters, nor these two.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(letter),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_end_its_element_or_attribute() {
        for (text, expected) in [
            ("a < b && c > \"d\"", "a &lt; b &amp;&amp; c &gt; &quot;d&quot;"),
            ("]]> <!-- &amp;", "]]&gt; &lt;!-- &amp;amp;"),
            ("bell\u{7}, escape\u{1b}[2J, zero\0", "bell\u{fffd}, escape\u{fffd}[2J, zero\u{fffd}"),
            ("\u{fffe}\u{ffff}", "\u{fffd}\u{fffd}"),
            ("two\nlines, 漢字 🦀", "two\nlines, 漢字 🦀"),
        ] {
            assert_eq!(escaped(text), expected, "{text:?}");
        }
    }
}
