//! Whether every message was said once, whole, where and in the order in which it was typed, or still stands in the input box.
//! Pure: it reads the record of a run.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::{AgentKind, Piece, PieceId};
use super::record::{Deed, Heard, Ms, Part, Record, without_blanks};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub kind: &'static str,
    pub detail: String,
}

/// A key needs some time to reach the agent.
const KEY_MS: Ms = 1_000;

/// Two times Escape within this time clear the input box.
const TWICE_MS: Ms = 3_000;

/// The first request in which a piece is the newest that the person says, at one point of a conversation.
#[derive(Debug, Clone)]
struct Saying {
    request: usize,
    at: Ms,
    session: String,
    /// The person's pieces before it, and whether a summary stands before them.
    before: (Vec<PieceId>, bool),
}

type Sayings = BTreeMap<PieceId, Vec<Saying>>;

pub fn faults(record: &Record) -> Vec<Fault> {
    let sayings = sayings(record);
    let mut faults = Vec::new();
    faults.extend(lost(record, &sayings));
    faults.extend(said_too_often(record, &sayings));
    faults.extend(changed(record, &sayings));
    faults.extend(elsewhere(record, &sayings));
    faults.extend(out_of_order(record, &sayings));
    faults.extend(in_the_box_as_well(record, &sayings));
    faults.extend(against_the_person(record, &sayings));
    let left = record.left.iter();
    faults.extend(left.map(|line| Fault { kind: "left running", detail: line.clone() }));
    faults
}

/// What was sent and is neither said nor in an input box.
pub fn missing(record: &Record) -> BTreeSet<PieceId> {
    let sayings = sayings(record);
    let boxes = in_boxes(record);
    let typed = record.typed.keys().copied();
    typed
        .filter(|id| !sayings.contains_key(id) && !boxes.contains_key(id))
        .filter(|id| !is_excused(record, &sayings, *id))
        .collect()
}

fn fault(kind: &'static str, record: &Record, id: PieceId, more: &str) -> Fault {
    Fault { kind, detail: format!("{:?}{more}", record.pieces[id].text) }
}

fn holds(text: &str, piece: &Piece) -> bool {
    text.contains(&piece.first_word()) || text.contains(&piece.last_word())
}

fn texts(heard: &Heard) -> impl Iterator<Item = &str> {
    heard.parts.iter().filter_map(|part| match part {
        Part::User(text) => Some(text.as_str()),
        _ => None,
    })
}

/// In the order in which they stand in the text.
fn pieces_of<'r>(record: &'r Record, text: &str) -> Vec<&'r Piece> {
    let at = |piece: &&Piece| text.find(&piece.first_word()).or(text.find(&piece.last_word()));
    let mut found: Vec<_> = record.pieces.iter().filter(|piece| holds(text, piece)).collect();
    found.sort_by_key(at);
    found
}

fn sayings(record: &Record) -> Sayings {
    let mut all = Sayings::new();
    for (request, heard) in record.heard.iter().enumerate() {
        let asks_for_packet = matches!(heard.parts.last(), Some(Part::Rawr(_)))
            && heard.parts.iter().rev().take_while(|part| matches!(part, Part::Rawr(_))).count()
                > 0
            && newest(heard).all(|part| !matches!(part, Part::User(_)));
        if !heard.is_turn || asks_for_packet {
            continue;
        }
        let begins = heard.parts.len() - newest(heard).count();
        let (mut before, mut has_summary) = (Vec::new(), false);
        for (at, part) in heard.parts.iter().enumerate() {
            match part {
                Part::Summary => {
                    before.clear();
                    has_summary = true;
                }
                Part::User(text) => {
                    for piece in pieces_of(record, text) {
                        let saying = Saying {
                            request,
                            at: heard.at,
                            session: heard.session.clone(),
                            before: (before.clone(), has_summary),
                        };
                        let known = all.entry(piece.number).or_default();
                        let is_new = known.iter().all(|one| one.before != saying.before);
                        if at >= begins && is_new {
                            known.push(saying);
                        }
                        before.push(piece.number);
                    }
                }
                Part::Rawr(_) | Part::Agent => {}
            }
        }
    }
    all.retain(|_, sayings| !sayings.is_empty());
    all
}

/// What comes after the agent's last words.
fn newest(heard: &Heard) -> impl Iterator<Item = &Part> {
    heard.parts.iter().rev().take_while(|part| !matches!(part, Part::Agent | Part::Summary))
}

/// How often each piece stands in one of the boxes, at most.
fn in_boxes(record: &Record) -> BTreeMap<PieceId, usize> {
    let mut found = BTreeMap::new();
    for content in &record.boxes {
        let content = without_blanks(content);
        for piece in record.pieces.iter().filter(|piece| holds(&content, piece)) {
            let first = content.matches(&piece.first_word()).count();
            let last = content.matches(&piece.last_word()).count();
            let most = found.entry(piece.number).or_insert(0);
            *most = first.max(last).max(*most);
        }
    }
    found
}

fn first_said(sayings: &Sayings, id: PieceId) -> Option<Ms> {
    sayings.get(&id)?.first().map(|saying| saying.at)
}

/// The player's own keys may have taken it away.
fn is_excused(record: &Record, sayings: &Sayings, id: PieceId) -> bool {
    let Some(typed) = record.typed.get(&id) else { return true };
    if record.astray.contains(&id) || record.ended_with.contains(&id) {
        return true;
    }
    let said = first_said(sayings, id).unwrap_or(Ms::MAX);
    let mut escaped = None;
    for (at, deed) in &record.deeds {
        let may_take = *at >= *typed && *at < said;
        let clears = match deed {
            Deed::Clear => true,
            Deed::Escape => escaped.replace(*at).is_some_and(|before| at - before < TWICE_MS),
            // What waits in the agent's own queue ends with the agent. What rawr holds does not.
            Deed::End => !is_held_at(record, id, *at),
            Deed::Enter | Deed::Switch => false,
        };
        if may_take && clears {
            return true;
        }
    }
    false
}

/// rawr has recorded that it holds the message.
fn is_held_at(record: &Record, id: PieceId, at: Ms) -> bool {
    let piece = &record.pieces[id];
    record.events.iter().any(|event| {
        let text = event["event"]["input_held"]["text"].as_str();
        text.is_some_and(|text| holds(text, piece))
            && event["at"].as_u64().is_some_and(|held| held <= at + KEY_MS)
    })
}

fn lost(record: &Record, sayings: &Sayings) -> Vec<Fault> {
    let boxes = in_boxes(record);
    let is_gone = |id: &PieceId| {
        let is_said = sayings.contains_key(id) || record.stored.contains(id);
        !is_said && !boxes.contains_key(id) && !is_excused(record, sayings, *id)
    };
    let gone = record.typed.keys().copied().filter(is_gone);
    gone.map(|id| {
        let kind = if record.entered.contains_key(&id) { "lost" } else { "draft lost" };
        fault(kind, record, id, "")
    })
    .collect()
}

fn said_too_often(record: &Record, sayings: &Sayings) -> Vec<Fault> {
    let mut faults = Vec::new();
    for piece in &record.pieces {
        let id = piece.number;
        let in_one = |heard: &Heard| {
            let count = |text: &str| text.matches(&piece.first_word()).count();
            texts(heard).map(count).sum::<usize>()
        };
        let turns = record.heard.iter().filter(|heard| heard.is_turn);
        let most = turns.map(in_one).max().unwrap_or_default();
        let entered = record.entered.get(&id).map_or(0, Vec::len);
        let said = sayings.get(&id).map_or(0, Vec::len);
        // A text that comes back after it was said may be sent again.
        if most > entered.max(1) {
            faults.push(fault("said twice", record, id, " twice in one request"));
        } else if said > entered.max(1) {
            let requests: Vec<_> = sayings[&id].iter().map(|saying| saying.request + 1).collect();
            let more = format!(" in requests {requests:?}, and Enter was pressed {entered} times");
            faults.push(fault("said twice", record, id, &more));
        } else if said > 0 && entered == 0 && !record.astray.contains(&id) {
            faults.push(fault("said without Enter", record, id, ""));
        }
    }
    faults
}

fn changed(record: &Record, sayings: &Sayings) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (id, all) in sayings {
        let piece = &record.pieces[*id];
        let Some(first) = all.first() else { continue };
        let heard = &record.heard[first.request];
        let is_whole = texts(heard).any(|text| text.contains(&piece.text));
        if !is_whole && !is_excused(record, sayings, *id) {
            let said: Vec<_> = texts(heard).filter(|text| holds(text, piece)).collect();
            faults.push(fault("changed", record, *id, &format!(" became {said:?}")));
        }
        let Some((name, content)) = &piece.file else { continue };
        if record.kind == AgentKind::Claude && !heard.body.contains(content) {
            faults.push(fault("without its file", record, *id, &format!(": {name}")));
        }
    }
    faults
}

/// Between two switches the player stays in one conversation.
fn stay_of(record: &Record, at: Ms) -> usize {
    let left = record.deeds.iter().filter(|(_, deed)| matches!(deed, Deed::Switch | Deed::End));
    left.filter(|(left, _)| *left < at).count()
}

/// Sent once, and neither given back nor taken away: it went straight through.
fn went_straight(record: &Record, sayings: &Sayings) -> Vec<(Ms, PieceId, Saying)> {
    let mut all = Vec::new();
    for (id, entered) in &record.entered {
        if let ([at], Some(said)) = (&entered[..], sayings.get(id))
            && !record.returned.contains(id)
            && !record.astray.contains(id)
        {
            all.push((*at, *id, said[0].clone()));
        }
    }
    all.sort_by_key(|(at, id, _)| (*at, *id));
    all
}

fn elsewhere(record: &Record, sayings: &Sayings) -> Vec<Fault> {
    let mut faults = Vec::new();
    let straight = went_straight(record, sayings);
    for pair in straight.windows(2) {
        let [(first_at, first, said_first), (at, id, said)] = pair else { continue };
        let same_stay = stay_of(record, *first_at) == stay_of(record, *at);
        // A session that was sent to the background meanwhile has another id.
        let moved = record
            .heard
            .get(said.request)
            .is_some_and(|heard| stay_of(record, heard.at) != stay_of(record, *at));
        let same_session = said.session == said_first.session || moved;
        // The conversation is the same if it holds what was said before, or has been compacted since.
        let is_same = said.before.0.contains(first)
            || same_session && (said.before.1 && !said_first.before.1)
            || same_session && compacted_between(record, said_first, said);
        if same_stay && !is_same && said.request > said_first.request {
            let more = format!(" in request {}, without what was said before", said.request + 1);
            faults.push(fault("said elsewhere", record, *id, &more));
        }
    }
    faults
}

fn compacted_between(record: &Record, first: &Saying, then: &Saying) -> bool {
    let between =
        record.heard.iter().skip(first.request).take(then.request.saturating_sub(first.request));
    between.into_iter().any(|heard| heard.is_compaction)
}

fn out_of_order(record: &Record, sayings: &Sayings) -> Vec<Fault> {
    let mut faults = Vec::new();
    let straight = went_straight(record, sayings);
    for pair in straight.windows(2) {
        let [(_, first, said_first), (_, id, said)] = pair else { continue };
        let after = said.before.0.contains(first) || said.request > said_first.request;
        let is_turned = said_first.before.0.contains(id) || said_first.request > said.request;
        if is_turned && !after {
            let more = format!(" before {:?}", record.pieces[*first].text);
            faults.push(fault("out of order", record, *id, &more));
        }
    }
    faults
}

fn in_the_box_as_well(record: &Record, sayings: &Sayings) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (id, count) in in_boxes(record) {
        if count > 1 {
            faults.push(fault("twice in the box", record, id, ""));
        }
        let entered = record.entered.get(&id).and_then(|times| times.last());
        let (Some(entered), Some(_)) = (entered, sayings.get(&id)) else { continue };
        // These give back what is being said, or what was said before.
        let gives_back = |deed: &Deed| !matches!(deed, Deed::Enter);
        if !record.deeds.iter().any(|(at, deed)| at > entered && gives_back(deed)) {
            faults.push(fault("said and in the box", record, id, ""));
        }
    }
    faults
}

/// rawr's sequences: their beginning, the completed compaction, their end.
fn sequences(record: &Record) -> Vec<(Ms, Option<Ms>, Ms)> {
    let mut all: Vec<(String, Ms, Option<Ms>, Ms)> = Vec::new();
    for event in &record.events {
        let at = event["at"].as_u64().unwrap_or_default();
        let thread = event["thread"].as_str().unwrap_or_default();
        let what = &event["event"];
        let of_thread = |one: &&mut (String, Ms, Option<Ms>, Ms)| one.0 == thread;
        if what.get("sequence_started").is_some() {
            all.push((thread.to_owned(), at, None, Ms::MAX));
        } else if let Some(running) = all.iter_mut().rev().find(of_thread) {
            let reported = &what["compaction_reported"];
            if reported["status"] == "completed" && reported["origin"] == "rawr" {
                running.2.get_or_insert(at);
            }
            if what.get("sequence_ended").is_some() && running.3 == Ms::MAX {
                running.3 = at;
            }
        }
    }
    all.into_iter().map(|(_, start, compacted, end)| (start, compacted, end)).collect()
}

/// Escape in a sequence, or right after the message that starts it, calls it off.
fn against_the_person(record: &Record, sayings: &Sayings) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (escaped, _) in record.deeds.iter().filter(|(_, deed)| *deed == Deed::Escape) {
        let is_unsaid = |(id, entered): (&PieceId, &Vec<Ms>)| {
            let last = entered.iter().rfind(|at| *at < escaped);
            last.is_some_and(|at| record.preflight || escaped - at < 2 * KEY_MS)
                && first_said(sayings, *id).is_none_or(|said| said > *escaped)
        };
        let has_unsaid = record.entered.iter().any(is_unsaid);
        // Where Codex's screen waits for rawr, the key waits as well.
        if record.preflight && has_unsaid {
            continue;
        }
        let agrees = record.deeds.iter().find(|(at, deed)| at > escaped && *deed == Deed::Enter);
        let agrees = agrees.map_or(Ms::MAX, |(at, _)| *at);
        for (start, compacted, end) in sequences(record) {
            let runs = start <= *escaped && *escaped < end;
            let follows = has_unsaid && record.kind == AgentKind::Claude && start > *escaped;
            let Some(compacted) = compacted else { continue };
            let is_late = |(from, to): &(Ms, Ms)| from < escaped && *to + KEY_MS > compacted;
            if record.stalls.iter().any(is_late) {
                continue;
            }
            if (runs || follows) && compacted > escaped + KEY_MS && compacted < agrees {
                let detail = format!("Escape, and {} ms later it is done", compacted - escaped);
                faults.push(Fault { kind: "compacted after Escape", detail });
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the person says, by piece; `S` is a summary, `A` the agent, `R` rawr.
    fn heard(at: Ms, session: &str, parts: &[&str]) -> Heard {
        let part = |text: &&str| match *text {
            "S" => Part::Summary,
            "A" => Part::Agent,
            "R" => Part::Rawr(String::new()),
            text => Part::User(text.to_owned()),
        };
        Heard {
            at,
            session: session.to_owned(),
            is_compaction: false,
            is_turn: true,
            parts: parts.iter().map(part).collect(),
            body: String::new(),
        }
    }

    fn record(heard: Vec<Heard>) -> Record {
        let piece = |number: usize| {
            let text = format!("m{number:02}a say m{number:02}z");
            Piece { number, text, file: None }
        };
        let mut record = Record::new(AgentKind::Claude, false, (0..3).map(piece).collect());
        for id in 0..3 {
            let at = 100 * (id as Ms + 1);
            record.typed.insert(id, at);
            record.entered.insert(id, vec![at + 10]);
            record.deeds.push((at + 10, Deed::Enter));
        }
        record.heard = heard;
        record
    }

    const ONE: &str = "m00a say m00z";
    const TWO: &str = "m01a say m01z";
    const THREE: &str = "m02a say m02z";

    fn check(record: &Record, expected: &[&str]) {
        let kinds: Vec<_> = faults(record).iter().map(|fault| fault.kind).collect();
        assert_eq!(kinds, expected, "{:#?}", faults(record));
    }

    #[test]
    fn each_message_once_and_in_order_is_right() {
        let all = vec![
            heard(150, "s", &[ONE]),
            heard(250, "s", &[ONE, "A", TWO]),
            heard(350, "s", &["S", "R", THREE]),
        ];
        let mut record = record(all);
        record.heard[1].is_compaction = false;
        check(&record, &[]);
        // A retry of the same turn, and a tool call in it.
        record.heard.push(heard(360, "s", &["S", "R", THREE]));
        record.heard.push(heard(370, "s", &["S", "R", THREE, "A"]));
        check(&record, &[]);
    }

    #[test]
    fn what_is_neither_said_nor_in_the_box_is_lost() {
        let mut record = record(vec![heard(150, "s", &[ONE]), heard(250, "s", &[ONE, "A", TWO])]);
        check(&record, &["lost"]);
        record.boxes.push("m02a\nsay m02z".to_owned());
        check(&record, &[]);
        record.boxes.push("m02a say m02z m02a say m02z".to_owned());
        check(&record, &["twice in the box"]);
        record.boxes.clear();
        record.entered.remove(&2);
        check(&record, &["draft lost"]);
        record.deeds.push((400, Deed::Clear));
        check(&record, &[]);
    }

    #[test]
    fn a_second_delivery_is_noticed_also_after_a_compaction() {
        let begin = || vec![heard(150, "s", &[ONE]), heard(250, "s", &[ONE, "A", TWO])];
        let again = [begin(), vec![heard(350, "s", &[ONE, "A", TWO, "A", TWO, THREE])]].concat();
        check(&record(again), &["said twice"]);
        let later =
            [begin(), vec![heard(350, "s", &["S", TWO]), heard(450, "s", &["S", TWO, "A", THREE])]];
        check(&record(later.concat()), &["said twice"]);
    }

    #[test]
    fn a_cut_message_and_one_without_its_file_are_noticed() {
        let all = [ONE, "A", TWO, "A", "say m02z"];
        let all =
            vec![heard(150, "s", &all[..1]), heard(250, "s", &all[..3]), heard(350, "s", &all)];
        let mut record = record(all);
        check(&record, &["changed"]);
        record.pieces[0].file = Some(("a.md".to_owned(), "CONTENT".to_owned()));
        check(&record, &["without its file", "changed"]);
    }

    #[test]
    fn a_message_in_another_conversation_is_noticed() {
        let begin = || vec![heard(150, "s", &[ONE]), heard(250, "s", &[ONE, "A", TWO])];
        let other = [begin(), vec![heard(350, "t", &[THREE])]].concat();
        check(&record(other.clone()), &["said elsewhere"]);
        let mut switched = record(other);
        switched.deeds.push((280, Deed::Switch));
        check(&switched, &[]);
    }

    #[test]
    fn order_is_checked_where_nothing_came_back() {
        let all = vec![
            heard(150, "s", &[ONE]),
            heard(350, "s", &[ONE, "A", THREE]),
            heard(360, "s", &[ONE, "A", THREE, "A", TWO]),
        ];
        let mut record = record(all);
        check(&record, &["out of order"]);
        record.returned.insert(1);
        check(&record, &[]);
    }

    #[test]
    fn escape_calls_a_sequence_off() {
        let all = vec![heard(150, "s", &[ONE]), heard(250, "s", &[ONE, "A", TWO])];
        let mut record = record(all);
        record.boxes.push(THREE.to_owned());
        let event = |at: Ms, event: serde_json::Value| serde_json::json!({"at": at, "thread": "s", "event": event});
        record.events = vec![
            event(320, serde_json::json!({"sequence_started": {}})),
            event(
                3_000,
                serde_json::json!({"compaction_reported": {"status": "completed", "origin": "rawr"}}),
            ),
            event(4_000, serde_json::json!({"sequence_ended": {}})),
        ];
        check(&record, &[]);
        record.deeds.push((330, Deed::Escape));
        check(&record, &["compacted after Escape"]);
    }
}
