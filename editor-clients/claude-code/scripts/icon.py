#!/usr/bin/env python3
"""Draws the plugin's icon, which is that of the extension for VS Code in a larger size."""

import struct
import zlib
from math import hypot
from pathlib import Path

SIZE = 512
# Points per side of a pixel, for smooth edges.
SAMPLES = 4
GROUND, INK = (0x21, 0x25, 0x2F), (0xFF, 0xB4, 0x54)
STROKE = 0.8
ARROW = [((5.5, 15.5), (9, 12)), ((9, 12), (5.5, 8.5)), ((3.4, 12), (8.8, 12))]
TO = Path(__file__).resolve().parents[1] / ".claude-plugin/icon.png"


def from_line(x, y, line):
    """The distance of a point from a line."""
    (ax, ay), (bx, by) = line
    dx, dy = bx - ax, by - ay
    along = max(0, min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)))
    return hypot(x - ax - along * dx, y - ay - along * dy)


def is_ink(x, y):
    """On a canvas of 24 by 24: a ring, its filled quarter, an arrow."""
    radius = hypot(x - 12, y - 12)
    ring = abs(radius - 9) <= STROKE
    quarter = x >= 12 and y <= 12 and radius <= 9
    return ring or quarter or any(from_line(x, y, line) <= STROKE for line in ARROW)


def pixel(column, row):
    # The picture leaves a margin around the ring.
    scale, margin = 32 / SIZE, 4
    near = [(step + 0.5) / SAMPLES for step in range(SAMPLES)]
    inks = sum(is_ink((column + a) * scale - margin, (row + b) * scale - margin) for a in near for b in near)
    share = inks / SAMPLES**2
    return bytes(round(g + (i - g) * share) for g, i in zip(GROUND, INK))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


rows = b"".join(b"\0" + b"".join(pixel(column, row) for column in range(SIZE)) for row in range(SIZE))
header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)
parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
TO.write_bytes(b"\x89PNG\r\n\x1a\n" + parts)
