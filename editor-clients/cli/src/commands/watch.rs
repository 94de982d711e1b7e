//! `rawr watch`: shows all threads live, as a full screen on a terminal and as lines otherwise. A response by a key is only
//! recorded: the thread's owner acts on it.

mod draw;
mod ink;
mod keys;
mod lines;
mod link;
mod screen;
mod view;

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use anyhow::{Context, bail};
use crossterm::event::Event;
use rawr_protocol::{ThreadListParams, methods};
use serde_json::Map;

use self::draw::Drawing;
use self::ink::ScreenColors;
use self::lines::LinesEnd;
use self::link::{WatchLink, WatchScope};
use self::screen::FullScreen;
use self::view::{View, ViewEnd};
use super::common::{CommonOptions, local_now, now_ms};
use super::threads::{no_thread, which};
use crate::args::WatchArgs;
use rawr_host::sidecar::{Launch, SidecarClient};
use rawr_host::stop::StopRequest;

/// Redraw interval, because ages and deadlines are shown in seconds.
const TICK: Duration = Duration::from_secs(1);

pub(super) async fn run(common: &CommonOptions, args: WatchArgs) -> anyhow::Result<ExitCode> {
    let folder = args.folder.as_deref().map(std::path::absolute).transpose()?;
    if let Some(folder) = folder.as_ref().filter(|folder| !folder.is_dir()) {
        bail!("{} is not a folder; pass one with --folder DIR", folder.display());
    }
    let on_screen = !args.output.json && is_a_screen();
    let mut stop = StopRequest::on_signals_and(screen::give_back)?;
    let settings = common.sidecar(Map::new())?;
    let mut sidecar = settings.launch().await?;
    let thread = match &args.thread.id {
        Some(wanted) => match named(common, &mut sidecar, wanted).await {
            Ok(thread) => Some(thread),
            Err(error) => {
                sidecar.stop().await;
                return Err(error);
            }
        },
        None => None,
    };
    let mut link = WatchLink::begin(sidecar, settings, WatchScope { thread, folder }).await?;
    let done = if on_screen {
        on_the_screen(&mut link, &mut stop).await
    } else {
        let ended = lines::print(&mut link, &mut stop).await;
        ended.map_err(Into::into).map(|ended| match ended {
            LinesEnd::Interrupted => ExitCode::from(stop.exit_code()),
            LinesEnd::Unread => ExitCode::SUCCESS,
        })
    };
    link.end().await;
    done
}

fn is_a_screen() -> bool {
    io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|name| name != "dumb")
}

/// Resolves the thread argument.
async fn named(
    common: &CommonOptions,
    sidecar: &mut SidecarClient,
    wanted: &str,
) -> anyhow::Result<String> {
    let mut threads = sidecar.call::<methods::ThreadList>(ThreadListParams {}).await?.threads;
    if threads.is_empty() {
        bail!("{}", no_thread(common)?);
    }
    threads.sort_by_key(|thread| std::cmp::Reverse(thread.updated_at_ms));
    Ok(which(wanted, &threads)?.thread_id.clone())
}

/// Runs the full-screen view. The terminal is restored before the sidecar is stopped.
async fn on_the_screen(link: &mut WatchLink, stop: &mut StopRequest) -> anyhow::Result<ExitCode> {
    let ink = match AutoStream::choice(&io::stdout()) {
        ColorChoice::Never => ScreenColors::Plain,
        _ => ScreenColors::Colored,
    };
    let mut screen = FullScreen::open().context("failed to set up the terminal")?;
    let mut keys = screen::keys();
    let mut view = View::default();
    let mut tick = tokio::time::interval(TICK);
    loop {
        let mut furthest = 0;
        let now = local_now();
        let drawing = Drawing { view: &view, now: &now, ink };
        screen
            .draw(|frame| furthest = drawing.draw(frame))
            .context("failed to draw on the terminal")?;
        view.reaches(furthest);
        let wishes = tokio::select! {
            () = stop.asked() => return Ok(ExitCode::from(stop.exit_code())),
            event = keys.recv() => match event.context("the terminal closed its input")?? {
                Event::Key(key) => view.press(key),
                Event::Resize(..) => {
                    screen.was_resized().context("failed to draw on the terminal")?;
                    Vec::new()
                }
                _ => Vec::new(),
            },
            news = link.next() => {
                let mut news = Some(news.context("lost the connection to the sidecar")?);
                let mut wishes = Vec::new();
                // Handle everything that has arrived before drawing.
                while let Some(heard) = news {
                    wishes.extend(view.handle(heard, now_ms()));
                    news = link.take();
                }
                wishes
            }
            // Redraw the ages.
            _ = tick.tick() => Vec::new(),
        };
        wishes.into_iter().for_each(|wish| link.ask(wish));
        match view.end.take() {
            Some(ViewEnd::Left) => return Ok(ExitCode::SUCCESS),
            Some(ViewEnd::Suspended) => {
                screen.suspend().context("failed to suspend the terminal")?
            }
            Some(ViewEnd::Lost(error)) => bail!(
                "the sidecar ended again after a restart: {error}; check the installation with `rawr doctor`"
            ),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests;
