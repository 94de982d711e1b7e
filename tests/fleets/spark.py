"""spark.py ROWS HOME COMMAND SESSION...: replays each session in a process of its own, and compares the sums with those of ROWS."""

import collections
import difflib
import json
import sys

from pyspark import SparkConf, SparkContext

SUMS = ["compactions", "proposed", "hostCompactions", "personCompactions", "filesReadAgain"]


def lines(path):
    # Only a line feed ends a line of a record.
    with open(path, encoding="utf-8", errors="replace", newline="\n") as record:
        yield from (line.rstrip("\n") for line in record)


def replayed(spark, command, home, sessions):
    """The rows of all sessions. A partition's lines go to one process, so each session has a partition."""
    records = spark.parallelize(sessions, len(sessions)).flatMap(lines)
    # The process has these variables and no others. Without a session it exits with 1, which fails the job.
    rows = records.pipe(command, env={"HOME": home, "CODEX_HOME": home}, checkCode=True)
    return rows.map(json.loads).collect()


def sums(rows):
    """A line for each configuration."""
    totals = collections.defaultdict(collections.Counter)
    for row in rows:
        totals[row["configuration"]].update(turns=1, **{name: int(row[name]) for name in SUMS})
    figures = {name: ", ".join(f"{of[key]} {key}" for key in ["turns", *SUMS]) for name, of in totals.items()}
    return [f"{name}: {figures[name]}" for name in sorted(figures)]


def main(rows, home, command, *sessions):
    conf = SparkConf().setMaster("local[2]").setAppName("fleet").set("spark.ui.enabled", "false")
    conf.set("spark.ui.showConsoleProgress", "false")
    spark = SparkContext(conf=conf)
    spark.setLogLevel("ERROR")
    by_spark = sums(replayed(spark, command, home, sessions))
    spark.stop()
    with open(rows, encoding="utf-8") as file:
        by_one = sums(map(json.loads, file))
    if not by_one or by_spark != by_one:
        print(*difflib.unified_diff(by_one, by_spark, "one process", "Spark", lineterm=""), sep="\n")
        sys.exit("spark.py: the sums differ")
    print(f"{len(sessions)} sessions, a process each; the same sums as by one process:", *by_spark, sep="\n  ")


main(*sys.argv[1:])
