#!/usr/bin/env python3
"""The code blocks of README.md, CONTRIBUTING.md, docs/*.md and examples/*/README.md.

usage: blocks.py rule                     every block says what it is; excerpts stand in their files
       blocks.py lines FILE [MARK...]     the commands of its blocks `sh`, and of those with one of the marks
       blocks.py build FILE               of its blocks `sh build`, but for LOOKED_AT
       blocks.py answers FILE LATHE DB    each block `sql` is asked, and its answer is the block `text` that follows
                                          (--write: is written there)

What a block may be, by the words after its fence:
  text              an output or an illustration. So is what is indented by four blanks.
  sh                commands that test/cli/docs.bats runs as they stand (or readme.bats, kernels_doc.bats)
  sh MARK           nvrtc, nvcc, jq: run where there is one. build: run in a folder like a clone, but for LOOKED_AT. gpu: not
                    run by tests, but by scripts/check_docs. What is not run is looked at: what it names is there
  sql               a question; its answer follows as `text`, cut off by a line `...` or whole
  LANG FILE         lua, cuda, c: those lines stand in that file, one after the other
  LANG shape        how something looks; not compiled
  lua, cuda         whole files, in the documents of OWN, whose tests make files of them
"""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
OWN = {"docs/kernels.md": "kernels_doc.bats", "docs/specification.md": "docs.bats", "docs/strategies.md": "docs.bats",
       "docs/write-a-strategy.md": "docs.bats"}
RUNNERS = ("docs.bats", "readme.bats", "kernels_doc.bats")  # those name the documents whose commands they run
MARKS = ("nvrtc", "nvcc", "jq", "gpu", "build")
# The commands of blocks `sh build` that docs.bats does not run, and why.
LOOKED_AT = {
    "git clone URL lathe && cd lathe": "the reader's URL; docs.bats makes a folder like it",
    "scripts/setup": "installs packages; `make test` begins with it",
    "make static": "test/cli/static.bats runs it",
    "busted --lua=$(command -v lua5.4) test/lua": "`make test` runs it, all of it",
    "make test": "it is what runs this",
}


def documents():
    os.chdir(ROOT)
    return (["README.md"] + glob.glob("CONTRIBUTING.md") + sorted(glob.glob("docs/*.md")) +
            sorted(glob.glob("examples/*/README.md")))


def blocks(path):
    """(number of the line after the fence, words after it, lines) of each."""
    out, words, at, inside = [], None, 0, []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if not line.startswith("```"):
            inside.append(line)
        elif words is None:
            words, at, inside = line[3:].split(), number + 1, []
        else:
            out.append((at, words, inside))
            words, inside = None, []
    assert words is None, "%s:%d: a block that does not end" % (path, at)
    return out


def is_run(path):
    tests = (os.path.join("test", "cli", name) for name in RUNNERS)
    return any("$TREE/" + path in text or "runs " + path in text for text in (open(t).read() for t in tests if os.path.exists(t)))


def command(line):
    """Without its comment."""
    return re.sub(r"(^|\s+)#\s.*", "", line.rstrip())


def absent(lines):
    """What commands name that is not there: a file of the repository, a target of make."""
    targets = re.findall(r"^([a-z-]+):", open("Makefile").read(), re.M) if os.path.exists("Makefile") else []
    for line in lines:
        for word in re.findall(r"(?:^|\s)((?:scripts|test|examples|docs|kernels)/[\w./-]+)", line):
            if not os.path.exists(word):
                return "there is no " + word
        for target in re.findall(r"(?:^|&& |sudo )make ([a-z-]+)", line):
            if target not in targets:
                return "make has no target " + target
    return ""


def flaw(path, words, lines, after):
    kind, rest = words[0] if words else "", words[1:]
    if kind == "text":
        return "" if not rest else "text has no marks"
    if kind == "sh":
        if len(rest) > 1 or not set(rest) <= set(MARKS):
            return "sh may be marked %s" % ", ".join(MARKS)
        if rest != ["gpu"] and not is_run(path):
            return "no test runs this document's commands"
        said = [command(line) for line in lines]
        return absent([line for line in said if rest == ["gpu"] or rest == ["build"] and line in LOOKED_AT])
    if kind == "sql" and not rest:
        return "" if after and after[1] == ["text"] else "no answer follows"
    if kind in ("lua", "cuda", "c") and rest == ["shape"]:
        return ""
    if kind in ("lua", "cuda", "c") and len(rest) == 1:
        if not os.path.isfile(rest[0]):
            return "there is no " + rest[0]
        return "" if "".join(lines) in open(rest[0], encoding="utf-8").read() else "these lines do not stand in " + rest[0]
    if kind in ("lua", "cuda") and not rest:
        return "" if path in OWN else "say the file that it is of"
    return "what is it? (%s)" % " ".join(words)


def rule():
    bad, said = 0, set()
    for path in documents():
        found = blocks(path)
        for i, (at, words, lines) in enumerate(found):
            what = flaw(path, words, lines, found[i + 1] if i + 1 < len(found) else None)
            if what:
                bad += 1
                print("%s:%d: %s" % (path, at - 1, what))
            said.update(command(line) for line in lines if words[:2] == ["sh", "build"])
    for line in sorted(set(LOOKED_AT) - said) if "CONTRIBUTING.md" in documents() else []:
        bad += 1
        print("blocks.py: no document has the command " + line)
    return bad


def commands(path, marks):
    for _, words, lines in blocks(path):
        if words[:1] == ["sh"] and (words[1] in marks if words[1:] else "build" not in marks):
            for line in map(command, lines):
                if line and not ("build" in marks and line in LOOKED_AT):
                    print(line)


def answers(path, lathe, db, write):
    found, text, bad = blocks(path), open(path, encoding="utf-8").read().splitlines(True), 0
    for i in reversed(range(len(found))):
        at, words, lines = found[i]
        if words != ["sql"]:
            continue
        told = subprocess.run([lathe, "query", "--db", db, "".join(lines)], capture_output=True, text=True)
        got = told.stdout.splitlines(True)
        at, _, wanted = found[i + 1]
        if told.returncode or len(got) < 2:
            bad += 1
            print("%s:%d: no answer: %s" % (path, found[i][0], told.stderr))
        elif write:
            text[at - 1:at - 1 + len(wanted)] = got if len(got) < 7 else got[:5] + ["...\n"]
        elif got != wanted and not (wanted[-1:] == ["..."] or wanted[-1] == "...\n" and got[:len(wanted) - 1] == wanted[:-1]):
            bad += 1
            print("%s:%d: the answer is\n%s" % (path, at, "".join(got[:8])))
    if write:
        open(path, "w", encoding="utf-8").write("".join(text))
    return bad


def main():
    what, rest = sys.argv[1], sys.argv[2:]
    if what == "rule":
        return rule()
    if what == "lines":
        return commands(rest[0], rest[1:])
    if what == "build":
        return commands(rest[0], ["build"])
    return answers(rest[0], rest[1], rest[2], rest[3:] == ["--write"])


sys.exit(1 if main() else 0)
