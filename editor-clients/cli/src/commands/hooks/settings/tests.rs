//! Tests that other settings keep their text.

use expect_test::{Expect, expect};

use super::*;

fn wanted(program: &str) -> Vec<WantedHook> {
    let of = |event: &'static str, matcher| WantedHook {
        event,
        matcher,
        command: format!("{program} hook {event} --host claude"),
        timeout: 60,
    };
    vec![of("Stop", None), of("SessionStart", Some("compact"))]
}

fn installed(text: Option<&str>) -> String {
    install(text, HookHost::Claude, &wanted("/bin/rawr")).unwrap().unwrap()
}

fn check(before: Option<&str>, expected: Expect) {
    let after = installed(before);
    expected.assert_eq(&after);
    assert_eq!(install(Some(&after), HookHost::Claude, &wanted("/bin/rawr")).unwrap(), None);
    let without = uninstall(Some(&after), HookHost::Claude).unwrap().unwrap();
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(value(&without), value(before.unwrap_or("{}")));
}

const OTHERS: &str = r#"{
  "model": "opus",
  "env": { "B": "1",   "A": "2" },
  "hooks": {
    "Stop": [
      { "hooks": [ { "type": "command", "command": "say done" } ] }
    ],
    "PreToolUse": [{"matcher": "Bash", "hooks": []}]
  },
  "permissions": {"allow": ["Bash(git *)"]}
}
"#;

#[test]
fn a_new_file_holds_the_hooks_alone() {
    check(
        None,
        expect![[r#"
        {
          "hooks": {
            "Stop": [
              {
                "hooks": [
                  {
                    "command": "/bin/rawr hook Stop --host claude",
                    "timeout": 60,
                    "type": "command"
                  }
                ]
              }
            ],
            "SessionStart": [
              {
                "hooks": [
                  {
                    "command": "/bin/rawr hook SessionStart --host claude",
                    "timeout": 60,
                    "type": "command"
                  }
                ],
                "matcher": "compact"
              }
            ]
          }
        }
    "#]],
    );
}

#[test]
fn what_is_there_stays_word_for_word_and_in_its_order() {
    check(
        Some(OTHERS),
        expect![[r#"
            {
              "model": "opus",
              "env": { "B": "1",   "A": "2" },
              "hooks": {
                "Stop": [
                  { "hooks": [ { "type": "command", "command": "say done" } ] },
                  {
                    "hooks": [
                      {
                        "command": "/bin/rawr hook Stop --host claude",
                        "timeout": 60,
                        "type": "command"
                      }
                    ]
                  }
                ],
                "PreToolUse": [{"matcher": "Bash", "hooks": []}],
                "SessionStart": [
                  {
                    "hooks": [
                      {
                        "command": "/bin/rawr hook SessionStart --host claude",
                        "timeout": 60,
                        "type": "command"
                      }
                    ],
                    "matcher": "compact"
                  }
                ]
              },
              "permissions": {"allow": ["Bash(git *)"]}
            }
        "#]],
    );
}

#[test]
fn a_rawr_that_has_moved_takes_its_own_old_place() {
    let old = installed(Some(OTHERS));
    let new = install(Some(&old), HookHost::Claude, &wanted("'/my apps/rawr' --home /h"));
    let new = new.unwrap().unwrap();
    assert!(!new.contains("/bin/rawr"), "{new}");
    assert_eq!(new.matches("'/my apps/rawr' --home /h hook").count(), 2, "{new}");
    assert!(new.contains("say done"));
}

#[test]
fn a_hook_of_others_in_the_same_group_stays() {
    let mixed = r#"{"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "rawr hook Stop --host claude"},
        {"type": "command", "command": "say done"}
    ]}]}}"#;
    let without = uninstall(Some(mixed), HookHost::Claude).unwrap().unwrap();
    assert!(without.contains("say done") && !without.contains("rawr"), "{without}");
}

#[test]
fn only_what_rawr_put_there_is_taken_out() {
    for command in [
        "rawr hook Stop --host codex",
        "echo rawr hook Stop --host claude",
        "rawr exec --host claude",
        "unbalanced ' rawr hook Stop --host claude",
        "other --host claude hook Stop",
    ] {
        assert_eq!(ours(command, HookHost::Claude), None, "{command}");
    }
    for command in [
        "rawr hook Stop --host claude",
        "'/my apps/.rawr-wrapped' --home /h hook X --host claude --headless",
    ] {
        assert!(ours(command, HookHost::Claude).is_some(), "{command}");
    }
}

#[test]
fn nothing_is_done_to_a_file_that_is_not_understood() {
    for (text, words) in [
        ("{ // mine\n}", "comment on line 1"),
        ("{ mine }", "invalid JSON"),
        ("\u{feff}{}", "byte order mark"),
        (r#"{"hooks": {}, "hooks": {}}"#, "duplicate key `hooks`"),
        ("[]", "`{}`"),
        (r#"{"hooks": []}"#, "`hooks`"),
        (r#"{"hooks": {"Stop": {}}}"#, "`hooks.Stop`"),
    ] {
        let error = install(Some(text), HookHost::Claude, &wanted("rawr")).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn where_there_is_nothing_to_take_out_nothing_changes() {
    for text in [None, Some(""), Some("{}"), Some(OTHERS), Some(r#"{"hooks": {"Stop": []}}"#)] {
        assert_eq!(uninstall(text, HookHost::Claude).unwrap(), None, "{text:?}");
    }
}
