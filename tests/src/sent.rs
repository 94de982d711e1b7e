//! The requests of a session as text, each without the part that repeats the previous request.

/// The purpose of a request, and its transcript.
pub type SentRequest = (&'static str, Vec<String>);

/// The new lines of each request; all lines if it does not continue the previous one.
pub fn sent(requests: impl IntoIterator<Item = SentRequest>) -> String {
    let mut text = String::new();
    let mut before: Vec<String> = Vec::new();
    for (purpose, transcript) in requests {
        let goes_on = !before.is_empty() && transcript.starts_with(&before);
        let (how, new) = if goes_on {
            ("goes on", &transcript[before.len()..])
        } else {
            ("begins", &transcript[..])
        };
        text.push_str(&format!("{purpose} {how}\n"));
        for line in new {
            text.push_str(&format!("  {}\n", shortened(line)));
        }
        before = transcript;
    }
    text
}

/// Shortens a line. A text from rawr is replaced by its purpose, because ids differ between runs.
fn shortened(text: &str) -> String {
    const LETTERS: usize = 60;
    let first: String = text.lines().next().unwrap_or_default().chars().take(LETTERS).collect();
    let marker = text.trim_end().strip_suffix(']').and_then(|text| text.rsplit_once("[rawr:"));
    match marker.and_then(|(_, marker)| marker.rsplit_once(':')) {
        Some((_, purpose)) => format!("{first} … {purpose}]"),
        None => first.trim_end().to_owned(),
    }
}
