//! A sidecar that holds messages and runs sequences, refuses now and then, and dies.

use std::collections::VecDeque;

use rawr_protocol::ErrorCode;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::Dice;
use crate::sidecar::{SidecarError, SidecarNotification};

#[derive(Default)]
pub struct RandomSidecar {
    pub notices: VecDeque<SidecarNotification>,
    held: Vec<(String, String)>,
    /// The action of the running sequence that is asked for.
    action: Option<Asked>,
    /// The handoff is not delivered yet.
    owes_handoff: bool,
    sequences: u64,
    actions: u64,
    is_dead: bool,
    /// The disk is full: nothing is recorded.
    is_full: bool,
    /// The first end of a turn begins a sequence.
    pub starts_at_once: bool,
}

#[derive(Clone)]
struct Asked {
    id: String,
    sequence: String,
    step: Step,
    action: Value,
}

impl Asked {
    fn pending(&self) -> Value {
        let mut pending = self.action.clone();
        pending["actionId"] = self.id.as_str().into();
        pending["sequenceId"] = self.sequence.as_str().into();
        pending["issuedAtMs"] = 0.into();
        pending
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Step {
    Packet,
    Compaction,
    Handoff,
    Delivery,
}

pub fn ended() -> SidecarError {
    SidecarError::Ended { how: "it was killed".to_owned() }
}

fn refused(method: &'static str, code: i32) -> SidecarError {
    SidecarError::Refused { method, code, message: "no".to_owned(), hint: None }
}

const ANY_CODE: i32 = -31099;

impl RandomSidecar {
    pub fn holds(&self, text: &str) -> bool {
        self.held.iter().any(|(_, held)| held == text)
    }

    pub fn is_idle(&self) -> bool {
        self.action.is_none()
    }

    fn note(&mut self, method: &str, params: &Value) {
        let params = to_raw_value(params).unwrap();
        let notice = SidecarNotification::read(method.to_owned(), Some(&params)).unwrap();
        assert!(!matches!(notice, SidecarNotification::Garbled { .. }), "{notice:?}");
        self.notices.push_back(notice);
    }

    pub fn restarts(&mut self) {
        (self.is_dead, self.is_full) = (false, false);
        self.notices.clear();
    }

    pub fn call(
        &mut self,
        dice: &mut Dice,
        method: &'static str,
        params: &str,
    ) -> Result<Box<RawValue>, SidecarError> {
        let params: Value = serde_json::from_str(params).unwrap();
        // The sidecar dies before it has recorded the call, or after.
        let dies = dice.comes(4);
        if self.is_dead || dies && dice.comes(500) {
            self.is_dead = true;
            return Err(ended());
        }
        if dice.comes(5) && method != "rawr/thread/open" {
            return Err(refused(method, ANY_CODE));
        }
        if !self.is_full && dice.comes(3) {
            self.is_full = true;
            let held: Vec<_> = self.held.iter().map(|(id, _)| id).collect();
            let params = json!({"threadId": "t", "error": "no space", "heldInputs": held});
            self.note("rawr/store/failed", &params);
        }
        if self.is_full && method != "rawr/thread/open" {
            return Err(refused(method, ErrorCode::StoreFailed.code()));
        }
        let answer = self.answer(dice, method, &params);
        if dies {
            self.is_dead = true;
            return Err(ended());
        }
        Ok(to_raw_value(&answer).unwrap())
    }

    fn answer(&mut self, dice: &mut Dice, method: &str, params: &Value) -> Value {
        match method {
            "rawr/thread/open" => json!({
                "threadId": "t",
                "phase": self.phase(),
                "scratchFile": ".scratch/a.md",
                "pendingActions": self.action.iter().map(Asked::pending).collect::<Vec<_>>(),
                "owner": true,
            }),
            "rawr/input/submit" => {
                let text = params["text"].as_str().unwrap().to_owned();
                if self.action.is_none() && dice.comes(300) {
                    self.begin_sequence();
                }
                if self.action.is_none() {
                    return json!({"disposition": "deliver"});
                }
                self.held.push((params["inputId"].as_str().unwrap().to_owned(), text));
                json!({"disposition": "held"})
            }
            "rawr/turn/completed" => {
                let mut verdict =
                    json!({"decisionId": "d1", "outcome": "nothing", "reason": "quiet"});
                let starts = std::mem::take(&mut self.starts_at_once) || dice.comes(200);
                if self.action.is_none() && starts {
                    self.begin_sequence();
                    verdict["sequenceId"] = format!("s{}", self.sequences).into();
                }
                json!({"verdict": verdict})
            }
            "rawr/action/report" => {
                let status = params["status"].as_str().unwrap();
                let is_asked = |asked: &Asked| params["actionId"] == asked.id.as_str();
                if self.action.as_ref().is_some_and(is_asked) && status != "accepted" {
                    self.next_step(status == "completed");
                }
                json!({})
            }
            "rawr/input/cancel" => {
                let input = params["inputId"].as_str().unwrap();
                self.held.retain(|(id, _)| id != input);
                let is_of = |asked: &Asked| asked.action["inputId"] == input;
                if self.action.as_ref().is_some_and(is_of) {
                    self.next_step(true);
                }
                json!({"cancelled": true})
            }
            "rawr/packet/get" => json!({
                "packet": "the packet", "author": "agent", "sequenceId": "s1", "resumeState": "working",
                "checked": {"ok": true, "missing": [], "tokens": 2, "redactions": 0},
            }),
            "rawr/handoff/build" => {
                json!({"text": "packet back\n[rawr:s1:handoff]", "marker": "[rawr:s1:handoff]"})
            }
            "rawr/signal/report" => json!({"boundaries": []}),
            _ => json!({}),
        }
    }

    fn phase(&self) -> &'static str {
        match self.action.as_ref().map(|asked| asked.step) {
            None => "idle",
            Some(Step::Packet) => "awaiting_packet",
            Some(Step::Compaction) => "compacting",
            Some(Step::Handoff | Step::Delivery) => "awaiting_handoff",
        }
    }

    fn begin_sequence(&mut self) {
        self.sequences += 1;
        self.owes_handoff = false;
        let text = format!("write it\n[rawr:s{}:packet_request]", self.sequences);
        self.ask(Step::Packet, inject("packet_request", &text));
    }

    fn ask(&mut self, step: Step, action: Value) {
        self.actions += 1;
        let (id, sequence) = (format!("a{}", self.actions), format!("s{}", self.sequences));
        let asked = Asked { id, sequence, step, action };
        self.action = Some(asked.clone());
        self.changed();
        self.perform(&asked);
    }

    fn perform(&mut self, asked: &Asked) {
        let params = json!({
            "threadId": "t",
            "sequenceId": asked.sequence,
            "actionId": asked.id,
            "action": asked.action,
        });
        self.note("rawr/action/perform", &params);
    }

    fn changed(&mut self) {
        let params = json!({"threadId": "t", "phase": self.phase(), "guards": []});
        self.note("rawr/thread/changed", &params);
    }

    fn next_step(&mut self, worked: bool) {
        let Some(asked) = self.action.take() else { return };
        match asked.step {
            Step::Packet => {
                let trigger = json!({"kind": "user"});
                self.ask(Step::Compaction, json!({"kind": "compact", "trigger": trigger}));
            }
            Step::Compaction => {
                self.owes_handoff = worked;
                self.deliver_next();
            }
            Step::Handoff => {
                self.owes_handoff = false;
                self.deliver_next();
            }
            Step::Delivery => {
                self.owes_handoff = false;
                let input = asked.action["inputId"].as_str().unwrap();
                self.held.retain(|(id, _)| id != input);
                self.deliver_next();
            }
        }
    }

    fn deliver_next(&mut self) {
        let handoff = format!("packet back\n[rawr:s{}:handoff]", self.sequences);
        if let Some((id, text)) = self.held.first().cloned() {
            let mut items = vec![json!({"role": "input", "text": text})];
            if self.owes_handoff {
                items.insert(0, json!({"role": "handoff", "text": handoff}));
            }
            let action = json!({"kind": "deliver_input", "inputId": id, "items": items});
            return self.ask(Step::Delivery, action);
        }
        if self.owes_handoff {
            return self.ask(Step::Handoff, inject("handoff", &handoff));
        }
        self.changed();
    }

    /// There is room on the disk again. Returns whether there was none.
    pub fn has_room_again(&mut self) -> bool {
        let was_full = std::mem::take(&mut self.is_full);
        if was_full {
            self.note("rawr/store/recovered", &json!({"threadId": "t"}));
            if let Some(asked) = self.action.clone() {
                self.perform(&asked);
            }
        }
        was_full
    }

    /// The agent takes too long. Returns whether a sequence ran.
    pub fn deadline_passes(&mut self) -> bool {
        let runs = self.action.is_some() && !self.is_full;
        if runs {
            self.next_step(false);
        }
        runs
    }
}

fn inject(purpose: &str, text: &str) -> Value {
    let marker = text.lines().last().unwrap_or_default();
    json!({"kind": "inject_turn", "purpose": purpose, "text": text, "marker": marker, "viaSteer": false})
}
