//! A line-by-line diff of two stories.

use std::fmt::Write;

/// Lines of only the first after `-`, of only the second after `+`.
pub fn of(first: &[String], second: &[String]) -> String {
    // The length of the longest common subsequence of two tails.
    let mut common = vec![vec![0_usize; second.len() + 1]; first.len() + 1];
    for (i, a) in first.iter().enumerate().rev() {
        for (j, b) in second.iter().enumerate().rev() {
            common[i][j] = if a == b {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut difference) = (0, 0, String::new());
    while i < first.len() || j < second.len() {
        match (first.get(i), second.get(j)) {
            (Some(a), Some(b)) if a == b => (i, j) = (i + 1, j + 1),
            (Some(a), b) if b.is_none() || common[i + 1][j] >= common[i][j + 1] => {
                let _ = writeln!(difference, "- {a}");
                i += 1;
            }
            (_, Some(b)) => {
                let _ = writeln!(difference, "+ {b}");
                j += 1;
            }
            _ => break,
        }
    }
    difference
}

#[test]
fn only_differences_are_shown() {
    let lines = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
    assert_eq!(of(&lines("abcd"), &lines("abcd")), "");
    assert_eq!(of(&lines("abcd"), &lines("axcde")), "- b\n+ x\n+ e\n");
    assert_eq!(of(&lines(""), &lines("a")), "+ a\n");
    assert_eq!(of(&lines("ab"), &lines("b")), "- a\n");
}
