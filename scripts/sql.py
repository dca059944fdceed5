#!/usr/bin/env python3
"""sql.py [-s SEPARATOR] FILE SQL: the rows of an answer, a line each, a tab (or SEPARATOR) between the values.

For the scripts beside this file: a machine with a GPU has Python, and often no sqlite3. FILE may be :memory:; the
function readfile(NAME) is there.
"""
import pathlib
import sqlite3
import sys


def readfile(name):
    with open(name, "rb") as f:
        return f.read()


def main(arguments):
    separator = "\t"
    if arguments[:1] == ["-s"]:
        separator, arguments = arguments[1], arguments[2:]
    if len(arguments) != 2:
        sys.exit(__doc__.strip().split("\n")[0])
    try:
        file = arguments[0]
        if file != ":memory:":
            file = pathlib.Path(file).absolute().as_uri() + "?mode=ro"      # a missing file is not made
        with sqlite3.connect(file, uri=file != ":memory:") as db:
            db.create_function("readfile", 1, readfile)
            for row in db.execute(arguments[1]):
                print(*("" if value is None else value for value in row), sep=separator)
    except (sqlite3.Error, OSError) as e:
        sys.exit(f"sql.py: {arguments[0]}: {e}")


main(sys.argv[1:])
