//! rawr's hooks in Claude Code on a screen.

use rawr_tests::Terminal;
use rawr_tests::claude::binary;

use super::session;
use crate::hooks::fixture::HooksFixture;

#[test]
fn the_user_is_told_when_to_compact_and_the_packet_is_returned() {
    let fixture = HooksFixture::new(session());
    fixture.home.has_been_used_in(&[fixture.repository.path()]);
    fixture.says(&["hooks", "install", "--claude"]);
    let mut claude = std::process::Command::new(binary());
    claude.args(["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]);
    claude.current_dir(fixture.repository.path());
    fixture.home.equip(&mut claude);
    claude.env("RAWR_HOME", fixture.home.path()).env("TERM", "xterm-256color");
    let mut terminal = Terminal::that_answers(&claude, 150, 120);
    terminal.wait_for(&["accept edits on"]);
    terminal.enter("WRITE-PARSER please", "WRITE-PARSER please");
    terminal.wait_for(&["Type /compact now"]);
    terminal.enter("/compact", "Free up context by summarizing");
    terminal.wait_for(&["Compacted"]);
    terminal.enter("AND-NOW the docs", "AND-NOW the docs");
    terminal.wait_for(&["The docs are written."]);
    fixture.was_handed_over_before("AND-NOW the docs");
    assert_eq!((fixture.is_open(), fixture.log()), (false, String::new()));
}
