//! Whether a text looks like words or like random characters, independent of its purpose.

/// For each letter, from `a` on, the letters that follow it in 97% of the pairs in English prose and in names of code.
/// Two random letters form such a pair in one of three cases.
const FOLLOWERS: [&str; 26] = [
    "bcdfgiklmnprstuvwy",
    "aeloruy",
    "aefhiklorstu",
    "adegilorsuy",
    "acdefgilmnpqrstvwx",
    "aefginortu",
    "einorsu",
    "aeiortu",
    "acdefglmnoprstvz",
    "s",
    "eis",
    "adefilostuy",
    "aeimopsu",
    "acdefgilnopstuwy",
    "bcdfgiklmnoprstuvw",
    "aehiloprstu",
    "u",
    "acdegikmnorstuy",
    "acehikopstuy",
    "acdehiloprstuy",
    "abcdefilmnprst",
    "aei",
    "aehinor",
    "pt",
    "npst",
    "e",
];

/// One bit per following letter.
const FOLLOWS: [u32; 26] = {
    let mut follows = [0; 26];
    let mut letter = 0;
    while letter < 26 {
        let followers = FOLLOWERS[letter].as_bytes();
        let mut at = 0;
        while at < followers.len() {
            follows[letter] |= 1 << (followers[at] - b'a');
            at += 1;
        }
        letter += 1;
    }
    follows
};

/// Whether a person may have chosen it as a name: `next_token_v2`, `Sha256Hash`, `my-secret-name`, `src/token.rs`.
/// Random text changes between cases and digits much more often, and has letter pairs of no language.
pub(super) fn is_wordy(text: &[u8]) -> bool {
    const LONGEST_WORD: usize = 22;
    let (mut words, mut letters, mut digits, mut length) = (0, 0, 0, 0);
    let (mut pairs, mut odd_pairs) = (0, 0);
    let mut before = b'_';
    for &byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {
                letters += 1;
                let goes_on = before.is_ascii_alphabetic()
                    && (byte.is_ascii_lowercase() || before.is_ascii_uppercase());
                (words, length) = if goes_on { (words, length + 1) } else { (words + 1, 1) };
                if length > LONGEST_WORD {
                    return false;
                }
                if goes_on {
                    pairs += 1;
                    odd_pairs += usize::from(!is_pair(before, byte));
                }
            }
            b'0'..=b'9' => digits += 1,
            b'_' | b'-' | b'.' | b'/' => {}
            _ => return false,
        }
        before = byte;
    }
    words * 3 <= letters + digits && digits * 9 <= letters * 4 && odd_pairs * 6 <= pairs + 4
}

fn is_pair(first: u8, second: u8) -> bool {
    let letter = |byte: u8| usize::from(byte.to_ascii_lowercase() - b'a');
    FOLLOWS[letter(first)] >> letter(second) & 1 == 1
}
