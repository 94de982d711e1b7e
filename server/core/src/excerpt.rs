//! The start or the end of a long text, or all of it on one line. Pure.

/// The start of a text: a user says there what is wanted.
pub fn head(text: &str, max_chars: usize) -> String {
    let text = text.trim();
    let kept = first_chars(text, max_chars);
    if kept.len() < text.len() { format!("{kept} …") } else { kept.to_owned() }
}

/// The end of a text: an agent says there what came of it, and what it was about to do.
pub fn tail(text: &str, max_chars: usize) -> String {
    let text = text.trim();
    let kept = last_chars(text, max_chars);
    if kept.len() < text.len() { format!("… {kept}") } else { kept.to_owned() }
}

/// Each run of white space becomes one space.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most so many characters.
pub(crate) fn first_chars(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

fn last_chars(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    // One more than is kept ends where the rest begins.
    text.char_indices()
        .rev()
        .nth(most)
        .map_or(text, |(at, left_out)| &text[at + left_out.len_utf8()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_marked() {
        assert_eq!((head(" añb ", 3), head(" añb ", 2)), ("añb".to_owned(), "añ …".to_owned()));
        assert_eq!((tail(" añb ", 3), tail(" añb ", 2)), ("añb".to_owned(), "… ñb".to_owned()));
    }
}
