//! `rawr claude-mod`, started by rawr's plugin in Claude Code: runs that session with rawr. The plugin writes the session to
//! standard input, posts events to a socket, and reads orders from standard output.

mod listener;
mod screen;

use std::io::{ErrorKind, Read};
use std::process::ExitCode;

use anyhow::Context;
use rawr_protocol::{ErrorCode, read_json};
use serde_json::Map;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use self::listener::{HeldMessages, ModEndpoint, listen};
use self::screen::ScreenReporter;
use super::attach::orphaned;
use super::common::{CommonOptions, prompt};
use crate::render::causes;
use rawr_host::drive::{Drive, DriveError, PromptQueue};
use rawr_host::host::HostError;
use rawr_host::host::claude_mod::{ClaudeMod, ModOrder, ModSession};
use rawr_host::sidecar::Launch;
use rawr_host::stop::{HUNG_UP, StopRequest};

/// The name of the socket in its folder.
const SOCKET: &str = "socket";

pub(super) async fn run(common: &CommonOptions) -> anyhow::Result<ExitCode> {
    let mut json = Vec::new();
    std::io::stdin().lock().read_to_end(&mut json).context("standard input")?;
    let session: ModSession =
        read_json(&json).context("standard input has no session of Claude Code")?;
    let (orders, ordered) = unbounded_channel();
    let stop = StopRequest::on_signals()?;
    let outlet = tokio::spawn(write_orders(ordered));
    let mut driven = std::pin::pin!(drive(common, session, orders.clone(), stop.clone()));
    let done = tokio::select! {
        done = &mut driven => done,
        // Claude Code was killed.
        () = orphaned() => {
            stop.ask(HUNG_UP);
            driven.await
        }
    };
    if let Err(error) = &done {
        let is_owned = error.downcast_ref().is_some_and(is_owned_elsewhere);
        let order = match is_owned {
            true => ModOrder::Retry { reason: OWNED.to_owned() },
            false => ModOrder::GiveUp { reason: format!("stopped: {}", causes(error)) },
        };
        // Without a reader there is no one to tell.
        let _ = orders.send(order);
    }
    drop(orders);
    // Claude Code may have ended before it read the last order.
    let _ = outlet.await;
    done.map(|()| ExitCode::SUCCESS)
}

async fn drive(
    common: &CommonOptions,
    session: ModSession,
    orders: UnboundedSender<ModOrder>,
    mut stop: StopRequest,
) -> anyhow::Result<()> {
    let settings = common.sidecar(Map::new())?;
    let mut sidecar = settings.launch().await?;
    let instructions = match prompt(&mut sidecar, "compact").await {
        Ok(instructions) => instructions,
        Err(error) => {
            sidecar.stop().await;
            return Err(error);
        }
    };
    let folder = tempfile::Builder::new().prefix("rawr-").tempdir().context("temporary folder")?;
    let socket = folder.path().join(SOCKET);
    let (events, arriving) = unbounded_channel();
    let (typed, typed_messages) = unbounded_channel();
    let held = HeldMessages::default();
    let endpoint = ModEndpoint { events, typed, held, instructions: instructions.clone() };
    let listening = listen(&socket, endpoint).with_context(|| socket.display().to_string())?;
    let listening = tokio::spawn(listening);
    orders.send(ModOrder::Listen { socket: socket.display().to_string() })?;
    let mut screen = ScreenReporter::new(session.session_id.clone(), orders.clone());
    let host = ClaudeMod::join(session, orders.clone(), arriving, instructions);
    let done = async {
        let drive = Drive::open(host, settings, sidecar, &mut screen).await?;
        let drive = drive.with_typed_inputs(typed_messages);
        drive.run(&mut PromptQueue::elsewhere(), &mut stop).await
    };
    let done = done.await;
    listening.abort();
    match done {
        Ok(_) | Err(DriveError::Host(HostError::Gone { .. })) => Ok(()),
        Err(DriveError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The rawr before this one may be stalled and still hold the session.
const OWNED: &str = "another rawr still runs this session";

fn is_owned_elsewhere(error: &DriveError) -> bool {
    match error {
        DriveError::Sidecar(error) => error.code() == Some(ErrorCode::OwnedElsewhere),
        _ => false,
    }
}

/// Writes each order as a line. Ends when all senders are gone, or when no one reads.
async fn write_orders(mut ordered: UnboundedReceiver<ModOrder>) -> std::io::Result<()> {
    let mut out = tokio::io::stdout();
    while let Some(order) = ordered.recv().await {
        let mut line = serde_json::to_vec(&order)?;
        line.push(b'\n');
        out.write_all(&line).await?;
        out.flush().await?;
    }
    Ok(())
}
