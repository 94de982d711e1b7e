//! Switches the terminal to a full screen, and restores it at the end, also after a panic or a signal.

use std::io::{self, Stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::Show;
use crossterm::event::{self, Event};
use crossterm::execute;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::backend::CrosstermBackend;
use ratatui::{Frame, Terminal};
use rustix::process::{Signal, kill_current_process_group};
use tokio::sync::mpsc;

/// Whether the terminal is in full-screen mode. Global, because the view, a panic or a signal may restore it.
static IS_OURS: AtomicBool = AtomicBool::new(false);

/// A full-screen terminal. Dropping it restores the terminal.
pub(super) struct FullScreen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl FullScreen {
    pub(super) fn open() -> io::Result<Self> {
        before_a_panic_is_told();
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let screen = Self { terminal };
        take()?;
        Ok(screen)
    }

    /// Returns to the shell until this process is resumed.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        give_back();
        // Suspend the whole job, which includes the sidecar, as the terminal does.
        kill_current_process_group(Signal::TSTP)?;
        take()?;
        self.was_resized()
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        if !IS_OURS.load(Ordering::SeqCst) {
            return Err(io::Error::other("the screen was closed after an internal error"));
        }
        self.terminal.draw(draw).map(drop)
    }

    /// Forces a full redraw. A terminal that shrinks and grows again loses content although its size is the same.
    pub(super) fn was_resized(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        give_back();
    }
}

fn take() -> io::Result<()> {
    IS_OURS.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen)
}

/// Restores the terminal. Idempotent; may be called from any thread.
pub(super) fn give_back() {
    if IS_OURS.swap(false, Ordering::SeqCst) {
        // A failure means that the terminal was closed.
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// Restores the terminal before a panic is printed, which would otherwise be lost.
fn before_a_panic_is_told() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        let tell = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            tell(panic);
        }));
    });
}

/// Reads keys and resizes on a separate thread, because reading from a closed terminal may never return.
pub(super) fn keys() -> mpsc::UnboundedReceiver<io::Result<Event>> {
    let (pressed, keys) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        loop {
            let event = event::read();
            let is_last = event.is_err();
            if pressed.send(event).is_err() || is_last {
                return;
            }
        }
    });
    keys
}
