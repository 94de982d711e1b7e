//! The work is a thread that waits for the test.

use super::*;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

const LABELS: WorkLabels =
    WorkLabels { title: "Counting sheep", things: "sheep", busy: "sheep are being counted" };

/// Counts of the flock, each reported as it comes; the work ends with the channel or when it is stopped.
fn counting(
    counts: Receiver<usize>,
    stopped: Sender<()>,
) -> impl FnOnce(&AtomicBool, &(dyn Fn(usize, usize) + Sync)) -> Result<usize, RpcError> {
    move |stop, progress| {
        let mut last = 0;
        loop {
            match counts.recv_timeout(Duration::from_millis(1)) {
                Ok(count) => {
                    last = count;
                    progress(count, 1000);
                }
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return Ok(last),
                Err(_) if stop.load(Ordering::Relaxed) => {
                    // Too late to tell.
                    progress(1000, 1000);
                    stopped.send(()).unwrap();
                    return Ok(last);
                }
                Err(_) => {}
            }
        }
    }
}

fn token() -> Option<ProgressToken> {
    Some(ProgressToken::Number(7))
}

/// The values of the progress so far, without what is always the same.
fn told(outbox: &Outbox) -> Vec<String> {
    let value = |message: Box<[u8]>| {
        let message: serde_json::Value = serde_json::from_slice(&message).unwrap();
        assert_eq!(message["method"], "$/progress");
        assert_eq!(message["params"]["token"], 7);
        message["params"]["value"].to_string()
    };
    std::iter::from_fn(|| outbox.take()).map(value).collect()
}

const BEGIN: &str =
    r#"{"cancellable":true,"kind":"begin","percentage":0,"title":"Counting sheep"}"#;

#[tokio::test]
async fn progress_is_reported_in_whole_percents() {
    let (work, outbox) = (LongWork::default(), Outbox::default());
    let (counts, counted) = channel();
    for count in [4, 10, 11, 500, 20] {
        counts.send(count).unwrap();
    }
    drop(counts);
    let done = work.run(&LABELS, (&outbox, token()), counting(counted, channel().0)).await;
    assert_eq!(done, Ok(20));
    let expected = [
        BEGIN,
        r#"{"kind":"report","message":"10 of 1000 sheep","percentage":1}"#,
        r#"{"kind":"report","message":"500 of 1000 sheep","percentage":50}"#,
        r#"{"kind":"end"}"#,
    ];
    assert_eq!(told(&outbox), expected);
}

#[tokio::test]
async fn without_a_token_nothing_is_told() {
    let (work, outbox) = (LongWork::default(), Outbox::default());
    let (counts, counted) = channel();
    counts.send(500).unwrap();
    drop(counts);
    let done = work.run(&LABELS, (&outbox, None), counting(counted, channel().0)).await;
    assert_eq!((done, told(&outbox)), (Ok(500), Vec::new()));
}

#[tokio::test]
async fn a_failure_and_a_panic_end_the_progress() {
    let (work, outbox) = (LongWork::default(), Outbox::default());
    let failure = RpcError::bad_field("paths", "no sheep");
    let fails = failure.clone();
    let done = work.run(&LABELS, (&outbox, token()), move |_, _| Err::<(), _>(fails)).await;
    assert_eq!(done, Err(failure));
    let expected = [BEGIN, r#"{"kind":"end","message":"failed"}"#];
    assert_eq!(told(&outbox), expected);
    let panics = |_: &AtomicBool, _: &(dyn Fn(usize, usize) + Sync)| -> Result<(), RpcError> {
        panic!("on purpose")
    };
    let done = work.run(&LABELS, (&outbox, token()), panics).await;
    assert_eq!(done.map_err(|error| error.code), Err(ErrorCode::InternalError));
    assert_eq!(told(&outbox), expected);
}

#[tokio::test]
async fn one_runs_at_a_time_and_the_next_waits_for_one_that_was_cancelled() {
    let (work, outbox) = (LongWork::default(), Outbox::default());
    let ((_counts, counted), (stopped, has_stopped)) = (channel(), channel());
    let mut first = Box::pin(work.run(&LABELS, (&outbox, token()), counting(counted, stopped)));
    assert!(futures::poll!(&mut first).is_pending());
    assert_eq!(told(&outbox), [BEGIN]);

    let second = work.run(&LABELS, (&outbox, token()), |_, _| Ok(2)).await;
    let refused = second.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Busy);
    assert_eq!(refused.message, "sheep are being counted");
    assert_eq!(told(&outbox), Vec::<String>::new());

    drop(first);
    let third = move |_: &AtomicBool, _: &(dyn Fn(usize, usize) + Sync)| {
        // The first one's thread ended before.
        Ok(has_stopped.try_recv().is_ok())
    };
    let third = work.run(&LABELS, (&outbox, token()), third).await;
    assert_eq!(third, Ok(true));
    let cancelled = r#"{"kind":"end","message":"cancelled"}"#;
    assert_eq!(told(&outbox), [cancelled, BEGIN, r#"{"kind":"end"}"#]);
}
