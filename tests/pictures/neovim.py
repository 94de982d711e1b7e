"""The plugin for Neovim on the screen: an agent waits for an approval, and a user looks at it. tmux is the terminal."""

import os
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import NamedTuple, Tuple

import terminal

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "editor-clients/neovim"
COLUMNS, ROWS = 100, 26
LIMIT_SECONDS = 60.0


class Surface(NamedTuple):
    name: str
    title: str
    # As tmux names them, typed one after the other.
    keys: Tuple[str, ...]
    # The texts of a screen that is complete.
    until: Tuple[str, ...]


# Each goes on where the one before it ends.
SURFACES = [
    Surface(
        "neovim-banner",
        "Neovim: a banner over a file says why a compaction is proposed, what happens without an answer, and which keys respond; the status line has the percent left",
        (),
        ("login.py", "rawr: Waiting for your approval", "q Hide", "rawr 52% left · early · Waiting for your approval"),
    ),
    Surface(
        "neovim-packet",
        "Neovim: the continuation packet in a buffer; the bar above it says how to hand it over and what happens without an answer",
        (":Rawr banner", "Enter", "p", "C-w", "o"),
        (":RawrHandOver hands it over", "Canceled without an answer", "Last message of the agent", "There is no packet yet"),
    ),
    Surface(
        "neovim-explain",
        "Neovim: the last decisions of a thread, the latest one with the evidence of each gate",
        (":Rawr explain", "Enter", "C-w", "o"),
        ("✓ Mode", "it asks about another page"),
    ),
]

# A user's settings, and those with which all versions of Neovim draw the same.
INIT = """
vim.opt.runtimepath:prepend({plugin!r})
vim.g.rawr = {{ cmd = {{ {binary!r}, 'serve' }}, autostart = true, banner = {{ timeout = 0 }} }}
vim.g.loaded_matchparen = 1
vim.treesitter.start = function() end
vim.cmd.highlight('StatusLine cterm=NONE')
vim.opt.fillchars = {{ stl = '─' }}
vim.o.background = 'dark'
vim.o.termguicolors = false
vim.o.laststatus = 2
vim.o.ruler = false
vim.o.showcmd = false
vim.o.showmode = false
vim.o.swapfile = false
vim.o.statusline = "── %f %= %{{%v:lua.require'rawr'.colored()%}}"
"""

THREAD = "embedded-18c2f1a03b6d5e27-9a14"
CLOCK = ["14:03:12", "14:03:12", "14:02:31", "14:02:30"]
# What differs from run to run, each with a text of the same width.
RULES = [
    ("the thread's id", r"embedded-[0-9a-f]{16}-[0-9a-f]{4}", lambda _: THREAD),
    ("the minutes until the deadline", r"\b[1-9] min\b", lambda _: "9 min"),
    ("the name of the notes, the last of its row", r"agent-[a-z]+\.scratch\.md *", lambda match: "agent-ember.scratch.md".ljust(len(match[0]))),
]


class Missing(Exception):
    """What this machine has not."""


def program():
    """The oldest Neovim that the plugin is for: it is the same on all machines."""
    if not shutil.which("tmux"):
        raise Missing("tmux is missing (Debian: apt-get install tmux)")
    folder = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve() / "neovim-plugin/trixie"
    got = subprocess.run([ROOT / "tests/language-clients/neovim/get", folder, "trixie"], stderr=subprocess.PIPE, text=True)
    if got.returncode != 0:
        raise Missing(f"Neovim cannot be unpacked here: {got.stderr.strip()}")
    return folder / "bin/nvim"


def screens(stage, nvim):
    """The cells of each surface, by name."""
    folder = stage.folder / "asked"
    work = folder / "shop"
    work.mkdir(parents=True)
    (folder / "home").mkdir()
    (folder / "home/rawr.toml").write_text('[rawr_auto_compaction]\nmode = "ask"\n')
    shutil.copy(ROOT / "tests/pictures/login.py", work)
    (folder / "init.lua").write_text(INIT.format(plugin=str(PLUGIN), binary=stage.binary))
    environment = {
        **stage.environment(os.environ["PATH"]),
        "RAWR_HOME": str(folder / "home"),
        **{f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")},
    }
    with Agent(stage.binary, work, environment), Terminal(folder, work, environment, nvim) as editor:
        for surface in SURFACES:
            editor.type(surface.keys)
            screen = terminal.Screen(COLUMNS, ROWS)
            screen.feed(plain(editor.shown(surface.until)).replace("\n", "\r\n"))
            yield surface, terminal.trimmed(screen.cells)


def plain(output):
    clock = iter(CLOCK)
    output = re.sub(r"\b\d\d:\d\d:\d\d\b", lambda _: next(clock), output)
    for _, pattern, fixed in RULES:
        output = re.sub(pattern, fixed, output)
    return output


class Agent:
    """A session whose agent waits for an approval."""

    def __init__(self, binary, work, environment):
        script = ROOT / "tests/pictures/threads.toml"
        command = [binary, "exec", "--host", "embedded", "--script", script, "--lines"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.process = subprocess.Popen(command, cwd=work, env=environment, text=True, **pipes)

    def __enter__(self):
        for message, answer in (("Fix the flaky login test.", "Compaction proposed"), ("Great. Next, why is the report page slow?", "Waiting for your approval…")):
            print(message, file=self.process.stdin, flush=True)
            # Without a limit, an agent that decides otherwise would be waited for forever.
            limit = threading.Timer(LIMIT_SECONDS, self.process.kill)
            limit.start()
            said = any(answer in line for line in self.process.stdout)
            limit.cancel()
            if not said:
                raise RuntimeError(f"the agent did not say {answer!r}")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate()


class Terminal:
    def __init__(self, folder, work, environment, nvim):
        self.tmux = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null"]
        self.environment = environment
        size = ["-x", str(COLUMNS), "-y", str(ROWS)]
        editor = ["env", "TERM=xterm-256color", str(nvim), "--clean", "-u", str(folder / "init.lua"), "login.py"]
        self.run("new-session", "-d", *size, "-c", str(work), *editor)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.run("kill-server")

    def run(self, *arguments):
        return subprocess.run([*self.tmux, *arguments], env=self.environment, check=True, capture_output=True, text=True).stdout

    def type(self, keys):
        for key in keys:
            self.run("send-keys", key)

    def shown(self, until):
        """The screen with its colors, once it has these texts and rests."""
        end, before = time.monotonic() + LIMIT_SECONDS, None
        while time.monotonic() < end:
            texts = self.run("capture-pane", "-p")
            if texts == before and all(text in texts for text in until):
                return self.run("capture-pane", "-p", "-e", "-N").removesuffix("\n")
            before = texts
            time.sleep(terminal.SETTLED_SECONDS)
        raise TimeoutError(f"Neovim does not show {until}:\n{before}")
