//! The terminal as a whole screen, and as it was before once that is over, however it ends. It draws nothing itself.

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

/// Whether the terminal is ours. There is one for the whole process, and whoever ends it gives it back: the view, a panic,
/// a signal.
static IS_OURS: AtomicBool = AtomicBool::new(false);

/// Gives the terminal back when it is dropped.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    pub(super) fn open() -> io::Result<Self> {
        before_a_panic_is_told();
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let screen = Self { terminal };
        take()?;
        Ok(screen)
    }

    /// The shell has the terminal until it lets this process go on.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        give_back();
        // As the terminal does it: the sidecar belongs to the same job.
        kill_current_process_group(Signal::TSTP)?;
        take()?;
        self.was_resized()
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        if !IS_OURS.load(Ordering::SeqCst) {
            return Err(io::Error::other("a part of the program failed, and the screen is gone"));
        }
        self.terminal.draw(draw).map(drop)
    }

    /// The next picture is drawn as a whole. A terminal that became small and large again has lost what lay in between,
    /// and its size is what it was.
    pub(super) fn was_resized(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn take() -> io::Result<()> {
    IS_OURS.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen)
}

/// May be called at any time and from anywhere; the second time nothing happens.
pub(super) fn give_back() {
    if IS_OURS.swap(false, Ordering::SeqCst) {
        // A terminal that is gone needs nothing back.
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// What a panic says would be lost on a screen that is about to vanish.
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

/// Keys and changes of size. They are read on a thread of their own: once a terminal has hung up, reading never returns.
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
