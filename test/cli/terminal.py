#!/usr/bin/env python3
"""terminal.py [--columns N] [--rows N] [--interrupt TEXT] COMMAND...: what stands on a terminal in the end. The command
runs on a pseudo-terminal, whose screen is as long as it needs to be; it is sent SIGINT when TEXT has been written. Exit
code: the command's. Knows what lathe writes: \\r, \\n, ESC[nA, ESC[K, ESC[J and colours."""
import argparse
import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios

p = argparse.ArgumentParser()
p.add_argument("--columns", type=int, default=120)
p.add_argument("--rows", type=int, default=40)
p.add_argument("--interrupt", default="")
p.add_argument("command", nargs=argparse.REMAINDER)
a = p.parse_args()

ready, go = os.pipe()
pid, fd = pty.fork()
if pid == 0:
    os.read(ready, 1)
    os.execvp(a.command[0], a.command)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", a.rows, a.columns, 0, 0))
os.write(go, b"x")
out, waiting = b"", a.interrupt.encode()
while True:
    try:
        piece = os.read(fd, 65536)
    except OSError:  # Linux's way to say that the other end is closed
        break
    if not piece:
        break
    out += piece
    if waiting and waiting in out:
        os.kill(pid, signal.SIGINT)
        waiting = b""
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

screen, y, x = [[]], 0, 0
text = out.decode("utf-8", "replace")
for token in re.finditer(r"\x1b\[(\d*)([A-Za-z])|.", text, re.S):
    count, what = token.group(1), token.group(2)
    if what == "A":
        y = max(0, y - int(count or 1))
    elif what == "K" or what == "J":
        del screen[y][x:]
        if what == "J":
            del screen[y + 1:]
    elif what == "m":
        pass
    elif what:
        sys.exit("terminal.py: ESC[%s%s is not known here" % (count, what))
    elif token.group() == "\r":
        x = 0
    elif token.group() == "\n":
        y += 1
    else:
        screen[y] += [" "] * (x + 1 - len(screen[y]))
        screen[y][x] = token.group()
        x += 1
        if x > a.columns:
            sys.exit("terminal.py: a line is longer than the terminal is wide: " + "".join(screen[y]))
    while len(screen) <= y:
        screen.append([])
print("\n".join("".join(row).rstrip() for row in screen))
sys.exit(status)
