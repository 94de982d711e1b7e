"""A program on a pseudo terminal, and what the terminal shows: a grid of cells."""

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
import unicodedata
from typing import NamedTuple

COLORS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]

# Escape sequences first, then single characters.
TOKEN = re.compile(r"\x1b\[(?P<args>[0-9;?]*)(?P<final>[@-~])|\x1b.|(?P<char>[\s\S])")

# A program that writes nothing for this long is waiting for a key. `rawr watch` writes every second, also where nothing changes.
SETTLED_SECONDS = 0.4
LIMIT_SECONDS = 60.0


class Style(NamedTuple):
    color: str = "text"
    bold: bool = False
    dim: bool = False
    underline: bool = False
    inverse: bool = False


class Cell(NamedTuple):
    char: str = " "
    style: Style = Style()


class Screen:
    """Knows the sequences that rawr writes; an unknown one is an error, not a wrong picture."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.row = self.column = 0
        self.style = Style()
        self.clear()

    def clear(self):
        self.cells = [[Cell()] * self.columns for _ in range(self.rows)]

    def feed(self, text):
        for token in TOKEN.finditer(text):
            if token["char"]:
                self.put(token["char"])
            elif token["final"]:
                self.control(token["final"], token["args"])
            else:
                raise ValueError(f"unknown escape sequence {token[0]!r}")

    def put(self, char):
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.line_feed()
        elif unicodedata.east_asian_width(char) in "WF" or not char.isprintable():
            raise ValueError(f"a character without the width of one cell: {char!r}")
        else:
            if self.column == self.columns:
                self.column = 0
                self.line_feed()
            self.cells[self.row][self.column] = Cell(char, self.style)
            self.column += 1

    def line_feed(self):
        self.row += 1
        if self.row == self.rows:
            raise ValueError(f"the output has more than {self.rows} rows: give it more in SURFACES")

    def control(self, final, args):
        numbers = [int(number or 0) for number in args.lstrip("?").split(";")]
        if final == "m":
            self.select(numbers)
        elif final == "H":
            row, column = (numbers + [1])[:2]
            self.row, self.column = max(row, 1) - 1, max(column, 1) - 1
        elif final in "JK" and numbers[0] in ((0, 2) if final == "K" else (2,)):
            self.erase(final, numbers[0])
        elif final in "hl" and numbers[0] == 1049:
            self.clear()
        elif final not in "hl" or not args.startswith("?"):
            raise ValueError(f"unknown control sequence {args}{final}")

    def erase(self, final, how):
        if final == "J":
            return self.clear()
        start = self.column if how == 0 else 0
        self.cells[self.row][start:] = [Cell()] * (self.columns - start)

    def select(self, numbers):
        while numbers:
            number = numbers.pop(0)
            if number == 38 and numbers[:1] == [5]:
                self.style = self.style._replace(color=COLORS[numbers[1]])
                del numbers[:2]
            else:
                self.style = styled(self.style, number)


def styled(style, number):
    changes = {
        1: {"bold": True},
        2: {"dim": True},
        4: {"underline": True},
        7: {"inverse": True},
        22: {"bold": False, "dim": False},
        24: {"underline": False},
        27: {"inverse": False},
        39: {"color": "text"},
        # The default background and the default color of underlines, which are all that rawr sets.
        49: {},
        59: {},
    }
    if number == 0:
        return Style()
    if 30 <= number < 38:
        return style._replace(color=COLORS[number - 30])
    # Bright colors look like the others.
    if 90 <= number < 98:
        return style._replace(color=COLORS[number - 90])
    if number not in changes:
        raise ValueError(f"unknown style {number}")
    return style._replace(**changes[number])


def text(line):
    return "".join(cell.char for cell in line).rstrip()


def trimmed(lines):
    """The rows and columns up to the last ones with text."""
    height = max((row + 1 for row, line in enumerate(lines) if text(line)), default=0)
    width = max((len(text(line)) for line in lines), default=0)
    return [line[:width] for line in lines[:height]]


def run(command, environment, folder, size, until=(), keys=""):
    """The output of a command. With `until` it is cut where the screen shows these texts and rests; then the keys are typed."""
    columns, rows = size
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.chdir(folder)
        os.execvpe(command[0], command, environment)
    output = follow(terminal, size, until, keys)
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    return output, os.WEXITSTATUS(status) if os.WIFEXITED(status) else None


def follow(terminal, size, until, keys):
    output, shown, changed = b"", None, time.monotonic()
    end = changed + LIMIT_SECONDS
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 0.1)
        if ready:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                # How Linux reports that the program has closed its terminal.
                piece = b""
            if not piece:
                return (shown or output).decode()
            output, changed = output + piece, time.monotonic()
        elif until and shown is None and time.monotonic() - changed > SETTLED_SECONDS:
            screen = shown_text(output, size)
            if all(text in screen for text in until):
                shown = output
                os.write(terminal, keys.encode())
    raise TimeoutError("the program did not end:\n" + output.decode(errors="replace")[-2000:])


def shown_text(output, size):
    screen = Screen(*size)
    screen.feed(output.decode())
    return "\n".join(map(text, screen.cells))
