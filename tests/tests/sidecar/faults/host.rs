//! The host: it performs every action once, keeps its reports until one is accepted, and delivers messages itself if
//! the registry cannot. It survives registries and knows nothing of disks.

use rawr_core::boundary::Boundaries;
use rawr_core::event::{
    ActionReported, ActionStatus, CommitMade, CompactionOrigin, CompactionReportStatus,
    CompactionReported, DeliveredMessage, Event, HostAction, InputCancelled, ItemRole, PlanUpdated,
    Purpose, TurnCompleted, TurnOrigin, TurnStarted, TurnStatus, Usage,
};
use rawr_core::signal::plan::{PlanItem, StepStatus};
use rawr_core::thread::Issued;
use rawr_core::units::{ActionId, InputId, Tokens, TurnId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// In a window of 190,000 tokens, this leaves 25%.
pub const PRESSURE: u64 = 143_139;
const AFTER_COMPACTION: u64 = 12_000;
const PACKET: &str = "<continuation_packet>\nState: working\nGoal: write the parser. \
    Decisions: no regular expressions. Next step: write the docs.\n</continuation_packet>";

#[derive(Debug, Default)]
pub struct SimulatedHost {
    turns: u32,
    context: u64,
    /// Until it was recorded.
    pub to_say: VecDeque<Event>,
    /// Each action, and the reports to repeat when it is requested again.
    done: BTreeMap<ActionId, (HostAction, Vec<Event>)>,
    /// The performed actions, in order.
    pub performed: Vec<String>,
    /// The user's messages as the agent received them.
    pub got: Vec<InputId>,
    /// Messages that the registry holds.
    pub held: BTreeMap<InputId, String>,
    /// Delivered without the registry, to be reported when it works again.
    delivered_itself: BTreeSet<InputId>,
    pub is_cut_off: bool,
    pub streaks: u32,
    /// Messages that the registry delivered although the host already had.
    pub handed_over_again: u32,
}

impl SimulatedHost {
    /// Whether a phase of work ends in it.
    pub fn user_turn(&mut self, input: &InputId, ends_phase: bool) {
        self.got.push(input.clone());
        let turn = self.next_turn();
        self.start(&turn, TurnOrigin::User, None);
        if ends_phase {
            self.context = PRESSURE;
            let steps = |first, second| {
                [("the parser", first), ("the docs", second)]
                    .map(|(step, status)| PlanItem { step: step.to_owned(), status })
                    .into()
            };
            let plan = |steps| PlanUpdated {
                turn: Some(turn.clone()),
                signal: None,
                steps,
                explanation: None,
                boundaries: Boundaries::NONE,
            };
            let (under_way, done) = (StepStatus::InProgress, StepStatus::Completed);
            let made =
                CommitMade { turn: Some(turn.clone()), signal: None, hash: None, subject: None };
            self.to_say.push_back(plan(steps(under_way, StepStatus::Pending)).into());
            self.to_say.push_back(made.into());
            self.to_say.push_back(plan(steps(done, under_way)).into());
        }
        self.end(&turn, "The parser is written and committed.");
    }

    /// The registry cannot record anything, so that the host has to deliver what it held.
    pub fn cut_off(&mut self, released: Vec<InputId>) {
        self.is_cut_off = true;
        self.streaks += 1;
        for input in released {
            assert!(self.held.remove(&input).is_some(), "{input} was not held");
            self.deliver_itself(input, false);
        }
    }

    pub fn deliver_itself(&mut self, input: InputId, ends_phase: bool) {
        self.user_turn(&input, ends_phase);
        self.delivered_itself.insert(input);
    }

    /// Deliveries in the meantime are reported first.
    pub fn heard_again(&mut self) {
        self.is_cut_off = false;
        for input in self.delivered_itself.iter().rev() {
            self.to_say.push_front(InputCancelled { input: input.clone() }.into());
        }
    }

    pub fn perform(&mut self, issued: &Issued) {
        if let Some((was, told)) = self.done.get(&issued.id) {
            assert_eq!(*was, issued.kind, "{} has changed", issued.id);
            // Pending reports are sent anyway.
            if self.to_say.is_empty() {
                self.to_say.extend(told.clone());
            }
            return;
        }
        let before = self.to_say.len();
        let turn = self.next_turn();
        match &issued.kind {
            HostAction::InjectTurn { purpose, .. } => {
                self.performed.push(purpose.name().to_owned());
                self.turn_of(&issued.id, &turn, *purpose == Purpose::PacketRequest);
            }
            HostAction::DeliverInput { input, items } => {
                self.deliver(&issued.id, input, items, &turn)
            }
            HostAction::Compact { .. } => {
                self.performed.push("compact".to_owned());
                self.report(&issued.id, ActionStatus::Accepted, &turn);
                self.compaction(&issued.id, CompactionReportStatus::Started);
                self.context = AFTER_COMPACTION;
                self.compaction(&issued.id, CompactionReportStatus::Completed);
                self.report(&issued.id, ActionStatus::Completed, &turn);
            }
            HostAction::Judge { .. } | HostAction::SamplePacket { .. } => {
                panic!("unexpected action {issued:?}")
            }
        }
        let told = self.to_say.iter().skip(before).cloned().collect();
        self.done.insert(issued.id.clone(), (issued.kind.clone(), told));
    }

    fn deliver(
        &mut self,
        id: &ActionId,
        input: &InputId,
        items: &[DeliveredMessage],
        turn: &TurnId,
    ) {
        let known = self.delivered_itself.contains(input);
        self.handed_over_again += u32::from(known);
        let items: Vec<_> =
            items.iter().filter(|item| !known || item.role != ItemRole::Input).collect();
        for item in &items {
            match item.role {
                ItemRole::Handoff => self.performed.push("handoff".to_owned()),
                ItemRole::Notice => self.performed.push("notice".to_owned()),
                ItemRole::Input => {
                    let text = self.held.remove(input);
                    assert_eq!(text.as_ref(), Some(&item.text), "{input} was changed");
                    self.got.push(input.clone());
                }
            }
        }
        if items.is_empty() {
            self.report(id, ActionStatus::Completed, turn);
        } else {
            self.turn_of(id, turn, false);
        }
    }

    fn turn_of(&mut self, id: &ActionId, turn: &TurnId, packet: bool) {
        self.report(id, ActionStatus::Accepted, turn);
        self.start(turn, TurnOrigin::Synthetic, Some(id));
        self.end(turn, if packet { PACKET } else { "Understood, going on." });
    }

    fn next_turn(&mut self) -> TurnId {
        self.turns += 1;
        TurnId::new(format!("t{}", self.turns))
    }

    fn start(&mut self, turn: &TurnId, origin: TurnOrigin, action: Option<&ActionId>) {
        let (turn, action) = (turn.clone(), action.cloned());
        let text = Some("Write the parser".to_owned());
        let directives = Vec::new();
        self.to_say.push_back(TurnStarted { turn, origin, action, text, directives }.into());
    }

    fn end(&mut self, turn: &TurnId, message: &str) {
        self.context += 1000;
        let usage = Usage {
            context: Tokens(self.context),
            input: None,
            cached: None,
            output: None,
            reasoning: None,
        };
        let completed = TurnCompleted {
            turn: turn.clone(),
            status: TurnStatus::Completed,
            overflow: None,
            last_message: Some(message.to_owned()),
            usage: Some(usage),
            queued_inputs: 0,
            review_mode: false,
            boundaries: Boundaries::NONE,
            heard: None,
        };
        self.to_say.push_back(completed.into());
    }

    fn report(&mut self, id: &ActionId, status: ActionStatus, turn: &TurnId) {
        let (action, turn) = (id.clone(), Some(turn.clone()));
        let reported = ActionReported { action, status, turn, text: None, error: None };
        self.to_say.push_back(reported.into());
    }

    fn compaction(&mut self, id: &ActionId, status: CompactionReportStatus) {
        let tokens_after =
            (status == CompactionReportStatus::Completed).then_some(Tokens(AFTER_COMPACTION));
        let reported = CompactionReported {
            status,
            origin: CompactionOrigin::Rawr,
            action: Some(id.clone()),
            tokens_before: None,
            tokens_after,
            error: None,
        };
        self.to_say.push_back(reported.into());
    }
}
