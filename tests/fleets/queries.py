"""queries.py PAGE FOLDER EXPECTED: runs the three queries of the page in the folder with rows.jsonl, and compares what they give."""

import difflib
import os
import pathlib
import re
import sys

import duckdb

QUERIES = 3


def cell(value):
    # The last digits of a sum of floats may differ between machines.
    return f"{value:.6g}" if isinstance(value, float) else "null" if value is None else str(value)


def table(query):
    result = duckdb.connect().execute(query)
    names = [column[0] for column in result.description]
    rows = result.fetchall()
    if not rows:
        sys.exit(f"queries.py: no rows from:\n{query}")
    return "".join(" | ".join(line) + "\n" for line in [names, *(map(cell, row) for row in rows)])


def main(page, folder, expected):
    queries = re.findall(r"^```sql\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    if len(queries) != QUERIES:
        sys.exit(f"queries.py: {page} has {len(queries)} blocks of sql, not {QUERIES}")
    os.chdir(folder)
    found = "\n".join(map(table, queries))
    if os.environ.get("UPDATE") == "1":
        expected.write_text(found)
        return
    committed = expected.read_text() if expected.exists() else ""
    if found != committed:
        lines = committed.splitlines(keepends=True), found.splitlines(keepends=True)
        sys.stdout.writelines(difflib.unified_diff(*lines, "expected", "found"))
        sys.exit("queries.py: the queries give other rows; UPDATE=1 tests/fleets/run rewrites them")
    print(f"{QUERIES} queries give the expected rows")


main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:]))
