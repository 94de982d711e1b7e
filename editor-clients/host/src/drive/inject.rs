//! Gives the agent a text of rawr, in a turn of its own, in the running turn, or where the host can put it.

use rawr_protocol::{Action, PendingAction, Purpose};

use super::action_queue::ActionOutcome;
use super::driver::DriverTask;
use super::port::{AccessKind, Order};
use super::result::DriveError;
use super::turns::StartedBy;
use crate::event::{InjectedText, SessionEvent};
use crate::host::{HandedOverBefore, HostError};

impl DriverTask<'_> {
    pub(super) async fn inject(
        &mut self,
        mut action: PendingAction,
        purpose: Purpose,
        text: &str,
        via_steer: bool,
    ) -> Result<(), DriveError> {
        if purpose == Purpose::Handoff && self.port.access() == AccessKind::AtHook {
            let handoff = text.to_owned();
            let told = self.port.ask(|reply| Order::HandOver { text: handoff, reply }).await;
            let Some(()) = self.accepted(&action, told).await? else { return Ok(()) };
            self.show_injected(&action, None, purpose, text)?;
            return self.settle(&action.action_id, ActionOutcome::done_before()).await;
        }
        if via_steer && self.is_free_before_held() {
            return match self.turns.is_busy() {
                // A compaction, whose end comes with the next event.
                true => self.accepted(&action, Err::<(), _>(HostError::Busy)).await.map(drop),
                false => self.inject_before_held(&action, purpose, text).await,
            };
        }
        let begun = match via_steer {
            true => self.steer(text.to_owned()).await,
            false => Err(HostError::NoTurn),
        };
        let (begun, starts) = match begun {
            // The turn has ended, or no turn was requested. If the event of its end is still pending, the host is busy and
            // the text is requeued.
            Err(HostError::NoTurn) => {
                if let Action::InjectTurn { via_steer, .. } = &mut action.action {
                    *via_steer = false;
                }
                (self.start_turn(vec![text.to_owned()]).await, true)
            }
            begun => (begun, false),
        };
        let Some(turn_id) = self.accepted(&action, begun).await? else { return Ok(()) };
        if starts {
            self.turns.begin(&turn_id, StartedBy::injection(purpose), Some(&action.action_id));
        } else if let Some(turn) = self.turns.running(&turn_id) {
            turn.actions.push(action.action_id.clone());
            match purpose {
                // The handoff tells the agent how to continue.
                Purpose::Handoff => turn.owes_work = false,
                Purpose::Notice => {}
                Purpose::HeadsUp | Purpose::ScratchWrite | Purpose::PacketRequest => {
                    turn.asked(&action.action_id);
                }
            }
        }
        self.show_injected(&action, Some(&turn_id), purpose, text)?;
        self.settle(&action.action_id, ActionOutcome::accepted(Some(&turn_id))).await
    }

    /// Whether a message is held where it was typed, in a shared conversation in which no turn runs.
    fn is_free_before_held(&self) -> bool {
        let runs = self.turns.running_turn().is_some() || self.port.running_turn().is_some();
        self.port.is_shared()
            && self.port.queues_in_place()
            && self.held.are_held_by_senders()
            && !runs
    }

    /// Puts a text of rawr before the message that is held where it was typed.
    pub(super) async fn inject_before_held(
        &mut self,
        action: &PendingAction,
        purpose: Purpose,
        text: &str,
    ) -> Result<(), DriveError> {
        let begun = self.hand_over_before_held(text.to_owned()).await;
        let Some(handed_over) = self.accepted(action, begun).await? else { return Ok(()) };
        let turn_id = match &handed_over {
            HandedOverBefore::InTurn(turn_id) => Some(turn_id.as_str()),
            HandedOverBefore::InHistory => None,
        };
        self.show_injected(action, turn_id, purpose, text)?;
        self.actions.handed_over.insert(action.sequence_id.clone());
        self.settle(&action.action_id, ActionOutcome::done_before()).await
    }

    pub(super) fn show_injected(
        &mut self,
        action: &PendingAction,
        turn_id: Option<&str>,
        purpose: Purpose,
        text: &str,
    ) -> Result<(), DriveError> {
        let (sequence_id, action_id) = (&action.sequence_id, &action.action_id);
        let injected = InjectedText { sequence_id, action_id, turn_id, text };
        Ok(self.reporter.report(&match purpose {
            Purpose::Handoff => SessionEvent::Handoff(injected),
            Purpose::HeadsUp | Purpose::ScratchWrite | Purpose::PacketRequest | Purpose::Notice => {
                SessionEvent::Injected { purpose, injected }
            }
        })?)
    }
}
