//! Makes untrusted text safe for a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Replaces characters that could control a terminal. Model output, commands and file names are untrusted.
pub fn sanitize_terminal(text: &str) -> String {
    let shown = |letter: char| match letter {
        '\n' => '\n',
        '\t' => ' ',
        letter if letter.is_control() => '\u{fffd}',
        // These change the writing direction, so that a line shows a different text.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        letter => letter,
    };
    text.chars().filter(|letter| *letter != '\r').map(shown).collect()
}

/// The width of a text in terminal columns.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// One line of at most `width` columns.
pub fn one_line(text: &str, width: usize) -> String {
    let text = sanitize_terminal(text);
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if columns(&words) > width {
        let mut taken = 1;
        let first_over = words.char_indices().find(|(_, letter)| {
            taken += letter.width().unwrap_or(0);
            taken > width
        });
        words.truncate(first_over.map_or(0, |(at, _)| at));
        words.push('…');
    }
    words
}
