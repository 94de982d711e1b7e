// What names of the wire are called for people. Words only; `vscode` is not known here.
import * as l10n from '@vscode/l10n';
import type {
  Boundary,
  BreakerHold,
  Choice,
  Decision,
  DecisionFate,
  Entrance,
  Gate,
  GateOutcome,
  Outcome,
  PacketAuthor,
  Phase,
  Stage,
  Tier,
  Until,
} from '../protocol';

export function tier(of: Tier): string {
  return {
    early: l10n.t('early'),
    ready: l10n.t('ready'),
    asap: l10n.t('asap'),
    emergency: l10n.t('emergency'),
  }[of];
}

export function boundary(of: Boundary): string {
  return {
    commit: l10n.t('commit'),
    plan_checkpoint: l10n.t('plan step done'),
    plan_update: l10n.t('plan changed'),
    pr_checkpoint: l10n.t('pull request'),
    agent_done: l10n.t('agent done'),
    topic_shift: l10n.t('new topic'),
    concluding_thought: l10n.t('conclusion'),
    turn_complete: l10n.t('turn ended'),
  }[of];
}

export function boundaries(of: readonly Boundary[]): string {
  return of.map(boundary).join(', ');
}

export function phase(of: Phase): string {
  return {
    idle: l10n.t('idle'),
    awaiting_judgment: l10n.t('the judge is asked'),
    awaiting_approval: l10n.t('waits for your answer'),
    deferred: l10n.t('compaction before the next message'),
    awaiting_heads_up: l10n.t('the agent is told'),
    awaiting_scratch_write: l10n.t('the agent saves its notes'),
    awaiting_packet: l10n.t('the agent writes its packet'),
    awaiting_compaction: l10n.t('the packet is written; type /compact in the agent'),
    compacting: l10n.t('the history is compacted'),
    awaiting_handoff: l10n.t('the packet is handed back'),
  }[of];
}

export function stage(of: Stage): string {
  return {
    will_compact: l10n.t('compaction ahead'),
    awaiting_approval: l10n.t('compact now?'),
    recommended: l10n.t('compaction recommended'),
    tagged: l10n.t('compaction would come here'),
    deferred: l10n.t('compaction before your next message'),
  }[of];
}

export function choice(of: Choice): string {
  return {
    compact_now: l10n.t('Compact now'),
    approve: l10n.t('Compact now'),
    snooze: l10n.t('Snooze'),
    cancel: l10n.t('Not this time'),
    edit_packet: l10n.t('Show packet'),
  }[of];
}

/** What a choice was, where somebody else made it. */
export function chosen(of: Choice): string {
  return {
    compact_now: l10n.t('compact now'),
    approve: l10n.t('go on'),
    snooze: l10n.t('not now'),
    cancel: l10n.t('not this time'),
    edit_packet: l10n.t('a packet of their own'),
  }[of];
}

export function outcome(of: Outcome): string {
  return {
    nothing: l10n.t('no compaction'),
    tag: l10n.t('compaction noted'),
    suggest: l10n.t('compaction recommended'),
    ask: l10n.t('you are asked'),
    judge: l10n.t('the judge is asked'),
    defer: l10n.t('compaction put off'),
    compact: l10n.t('compaction decided'),
  }[of];
}

/** What became of a decision, and when. */
export function fate(of: DecisionFate, nowMs: number): string {
  return l10n.t('Outcome: {0}, {1}', of.text, ago(of.atMs, nowMs));
}

/** Why the breaker holds compactions back, and what ends that. */
export function paused(hold: BreakerHold): string {
  return l10n.t('Compactions are paused: {0}. rawr compacts again when {1}.', hold.reason, hold.endsWhen);
}

export function gate(of: Gate): string {
  return {
    feature: l10n.t('rawr is on'),
    pressure: l10n.t('the context is full enough'),
    origin: l10n.t('the turn is yours and no sequence runs'),
    mode_of_host: l10n.t('the host allows it'),
    guard: l10n.t('no guard is active'),
    breaker: l10n.t('the last compactions helped'),
    rearm: l10n.t('enough is new since the last compaction'),
    cooldown: l10n.t('enough turns and time have passed'),
    boundary: l10n.t('a phase has ended'),
    weak_boundary: l10n.t('there is more than a changed plan'),
    semantic_break: l10n.t('the agent’s words end the phase as well'),
    active_work: l10n.t('nothing is being worked on'),
    packet_worth: l10n.t('there is something to hand over'),
    judgment: l10n.t('the judge agrees'),
    mode: l10n.t('the mode lets it go on'),
  }[of];
}

export function gateOutcome(of: GateOutcome): string {
  return {
    pass: l10n.t('passed'),
    fail: l10n.t('failed'),
    bypassed: l10n.t('passed over'),
    not_reached: l10n.t('not reached'),
  }[of];
}

export function entrance(of: Entrance): string {
  return {
    turn_complete: l10n.t('at the end of a turn'),
    preflight: l10n.t('before your next message'),
    mid_turn: l10n.t('inside a turn'),
    inline: l10n.t('plainly, without a packet'),
  }[of];
}

export function author(of: PacketAuthor): string {
  return { agent: l10n.t('the agent'), watcher: l10n.t('rawr'), person: l10n.t('a person') }[of];
}

export function until(of: Until): string {
  switch (of.kind) {
    case 'turns':
      return of.turns === 1 ? l10n.t('for one turn') : l10n.t('for {0} turns', of.turns);
    case 'minutes':
      return of.minutes === 1 ? l10n.t('for one minute') : l10n.t('for {0} minutes', of.minutes);
    case 'next_commit':
      return l10n.t('until the next commit');
    case 'tests_pass':
      return l10n.t('until tests pass');
    case 'released':
      return l10n.t('until it is released');
  }
}

export function left(percent: number | undefined): string {
  return percent === undefined ? l10n.t('usage unknown') : l10n.t('{0}% left', percent);
}

export function tokens(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** "5,494 → 538 tokens", or what is known of it. */
export function landed(before: number | undefined, after: number | undefined): string {
  if (before === undefined) return after === undefined ? '' : l10n.t('{0} tokens now', tokens(after));
  if (after === undefined) return l10n.t('from {0} tokens', tokens(before));
  return l10n.t('{0} → {1} tokens', tokens(before), tokens(after));
}

/** A decision in one line. */
export function decided(of: Decision): string {
  return [outcome(of.outcome), left(of.percentRemaining), ...(of.tier ? [tier(of.tier)] : [])].join(' · ');
}

export function ago(atMs: number, nowMs: number): string {
  const minutes = Math.floor(Math.max(0, nowMs - atMs) / 60_000);
  if (minutes < 1) return l10n.t('just now');
  if (minutes < 60) return l10n.t('{0} min ago', minutes);
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? l10n.t('{0} h ago', hours) : l10n.t('{0} days ago', Math.floor(hours / 24));
}

/** A time that is yet to come, as "4:05". */
export function remaining(deadlineMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.ceil((deadlineMs - nowMs) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
