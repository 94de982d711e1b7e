//! Messages that say no more than that the agent should go on. What they go on with, only facts can tell.

/// In lower case, without punctuation around.
const PHRASES: [&str; 78] = [
    "continue",
    "please continue",
    "continue please",
    "continue with the plan",
    "continue with the next step",
    "go on",
    "go ahead",
    "please go on",
    "proceed",
    "please proceed",
    "proceed with the plan",
    "proceed with the next step",
    "keep going",
    "carry on",
    "move on",
    "next",
    "next one",
    "next step",
    "next please",
    "yes continue",
    "yes, continue",
    "ok continue",
    "ok, continue",
    "ok next",
    "ok, next",
    "weiter",
    "bitte weiter",
    "mach weiter",
    "mach bitte weiter",
    "weitermachen",
    "fahr fort",
    "nächster schritt",
    "weiter mit dem plan",
    "ja weiter",
    "ja, weiter",
    "continue s'il te plaît",
    "continuez",
    "continue le plan",
    "vas-y",
    "on continue",
    "poursuis",
    "poursuivez",
    "étape suivante",
    "la suite",
    "continúa",
    "continua",
    "sigue",
    "sigamos",
    "adelante",
    "siguiente",
    "siguiente paso",
    "continue por favor",
    "prossiga",
    "próximo",
    "próximo passo",
    "avanti",
    "procedi",
    "vai avanti",
    "ga door",
    "ga verder",
    "doorgaan",
    "продолжай",
    "продолжайте",
    "продолжи",
    "дальше",
    "далее",
    "继续",
    "请继续",
    "继续吧",
    "接着做",
    "下一步",
    "続けて",
    "続けてください",
    "次へ",
    "次お願いします",
    "계속",
    "계속해",
    "devam et",
];

/// Whether a message says nothing else.
pub fn only_goes_on(message: &str) -> bool {
    const LONGEST: usize = 64;
    let edge = |letter: char| !letter.is_alphanumeric();
    let text = message.trim_matches(edge);
    if text.len() > LONGEST {
        return false;
    }
    let words = text.to_lowercase();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    PHRASES.contains(&words.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_else_is_said() {
        for message in
            ["Continue.", "  weiter! ", "OK, next", "继续", "続けて。", "proceed  with the plan"]
        {
            assert!(only_goes_on(message), "{message}");
        }
        for message in
            ["continue the parser", "next: the printer", "go on, but fix the test", "", "?"]
        {
            assert!(!only_goes_on(message), "{message}");
        }
    }
}
