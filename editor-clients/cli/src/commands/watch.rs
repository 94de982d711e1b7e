//! `rawr watch`: all threads live, on a terminal as a screen with keys, elsewhere as lines. What a person says by a key is
//! only recorded; the thread's owner acts on it.

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
use self::ink::Ink;
use self::lines::Ended;
use self::link::{Link, Scope};
use self::screen::Screen;
use self::view::{End, View};
use super::threads::{no_thread, which};
use super::{Common, now_ms};
use crate::args::WatchArgs;
use rawr_host::sidecar::{Launch, Sidecar};
use rawr_host::stop::Stop;

/// Ages and deadlines are told in seconds.
const TICK: Duration = Duration::from_secs(1);

pub(super) async fn run(common: &Common, args: WatchArgs) -> anyhow::Result<ExitCode> {
    let folder = args.folder.as_deref().map(std::path::absolute).transpose()?;
    if let Some(folder) = folder.as_ref().filter(|folder| !folder.is_dir()) {
        bail!("{} is not a folder: name one with --folder DIR", folder.display());
    }
    let on_screen = !args.json && is_a_screen();
    let mut stop = Stop::on_signals_and(screen::give_back)?;
    let settings = common.sidecar(Map::new())?;
    let mut sidecar = settings.launch().await?;
    let thread = match &args.thread {
        Some(wanted) => match named(common, &mut sidecar, wanted).await {
            Ok(thread) => Some(thread),
            Err(error) => {
                sidecar.stop().await;
                return Err(error);
            }
        },
        None => None,
    };
    let mut link = Link::begin(sidecar, settings, Scope { thread, folder }).await?;
    let done = if on_screen {
        on_the_screen(&mut link, &mut stop).await
    } else {
        let ended = lines::print(&mut link, &mut stop).await;
        ended.map_err(Into::into).map(|ended| match ended {
            Ended::Interrupted => ExitCode::from(stop.exit_code()),
            Ended::Unread => ExitCode::SUCCESS,
        })
    };
    link.end().await;
    done
}

fn is_a_screen() -> bool {
    io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|name| name != "dumb")
}

/// A name as people write it.
async fn named(common: &Common, sidecar: &mut Sidecar, wanted: &str) -> anyhow::Result<String> {
    let mut threads = sidecar.call::<methods::ThreadList>(ThreadListParams {}).await?.threads;
    if threads.is_empty() {
        bail!("{}", no_thread(common)?);
    }
    threads.sort_by_key(|thread| std::cmp::Reverse(thread.updated_at_ms));
    Ok(which(wanted, &threads)?.thread_id.clone())
}

/// From the first picture to the last; the terminal is given back before anything else ends.
async fn on_the_screen(link: &mut Link, stop: &mut Stop) -> anyhow::Result<ExitCode> {
    let ink = match AutoStream::choice(&io::stdout()) {
        ColorChoice::Never => Ink::Plain,
        _ => Ink::Coloured,
    };
    let mut screen = Screen::open().context("the terminal cannot be drawn on")?;
    let mut keys = screen::keys();
    let mut view = View::default();
    let mut tick = tokio::time::interval(TICK);
    loop {
        let mut furthest = 0;
        let drawing = Drawing { view: &view, now_ms: now_ms(), ink };
        screen.draw(|frame| furthest = drawing.draw(frame)).context("the terminal is gone")?;
        view.reaches(furthest);
        let wishes = tokio::select! {
            () = stop.asked() => return Ok(ExitCode::from(stop.exit_code())),
            event = keys.recv() => match event.context("the terminal has no keys any more")?? {
                Event::Key(key) => view.press(key),
                Event::Resize(..) => {
                    screen.was_resized().context("the terminal is gone")?;
                    Vec::new()
                }
                _ => Vec::new(),
            },
            news = link.next() => {
                let mut news = Some(news.context("nothing more is heard of the threads")?);
                let mut wishes = Vec::new();
                // What has come at once is shown at once.
                while let Some(heard) = news {
                    wishes.extend(view.hear(heard, now_ms()));
                    news = link.take();
                }
                wishes
            }
            // What is drawn says how long ago things were.
            _ = tick.tick() => Vec::new(),
        };
        wishes.into_iter().for_each(|wish| link.ask(wish));
        match view.end.take() {
            Some(End::Left) => return Ok(ExitCode::SUCCESS),
            Some(End::Suspended) => screen.suspend().context("the terminal is gone")?,
            Some(End::Lost(error)) => bail!(
                "the sidecar was started again once and ended again: {error}; `rawr doctor` looks for the cause"
            ),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests;
