#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""terminal.py DIR QEMU ARG...: runs QEMU with the guest's terminal on this one.

In virtual time an idle guest does not wait: its clock runs ahead as fast as the host can step it, with one host CPU busy.
That is right for a test and wrong at a prompt, so the machine is stopped while the guest's shell waits for a line and
nothing runs in its background, and goes on with each key.

DIR has payload (the archive that the guest waits for); status is written there, each line that the guest said.
"""

import os
import select
import signal
import socket
import subprocess
import sys
import termios
import time
import tty

QUIET_S = 0.1  # how long the guest's terminal must be quiet before the machine is stopped
# What the guest's shell writes with its prompt, in front of it (behind it, readline redraws the line); not shown.
IDLE_MARK = b"\x1b]777;idle\x07"
LINE_ENDS = b"\r\n\x03\x04\x1a"  # keys with which the prompt is left: return, newline, Ctrl-C, Ctrl-D, Ctrl-Z


class Machine:
    """The monitor of QEMU, without waiting for its answers."""

    def __init__(self, connection):
        self.connection = connection
        self.running = True
        self.send("qmp_capabilities")

    def send(self, command):
        self.connection.sendall(b'{"execute":"%s"}\n' % command.encode())

    def stop(self):
        if self.running:
            self.send("stop")
            self.running = False

    def go_on(self):
        if not self.running:
            self.send("cont")
            self.running = True


def listen(path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(1)
    server.settimeout(20)
    return server


def size_line():
    columns, rows = os.get_terminal_size(0)
    return b"%d %d\n" % (rows, columns)


def feed(pipe, backlog):
    """Writes what the pipe takes of the backlog without blocking; returns the rest."""
    try:
        return backlog[os.write(pipe, backlog[:65536]):]
    except BlockingIOError:
        return backlog


def split_mark(text):
    """Text without the marks in it, whether there was one, and what may be a mark's beginning."""
    shown = text.replace(IDLE_MARK, b"")
    rest = max((n for n in range(1, len(IDLE_MARK)) if shown.endswith(IDLE_MARK[:n])), default=0)
    return shown[:len(shown) - rest], IDLE_MARK in text, shown[len(shown) - rest:]


def relay(directory, qemu, machine, terminal, status_in, payload):
    with open(os.path.join(directory, "payload"), "rb") as archive:
        backlog = archive.read()
    resized = []
    signal.signal(signal.SIGWINCH, lambda *_: resized.append(1))
    wake_in, wake_out = os.pipe()
    os.set_blocking(wake_out, False)
    signal.set_wakeup_fd(wake_out)
    status_log = open(os.path.join(directory, "status"), "wb")
    at_prompt = False
    unseen = b""
    sources = [0, terminal, status_in, machine.connection, wake_in]
    quiet_since = time.monotonic()
    while qemu.poll() is None:
        idle = at_prompt and machine.running
        wait = max(0.0, quiet_since + QUIET_S - time.monotonic()) if idle else 1.0
        ready, _, _ = select.select(sources, [payload] if backlog else [], [], wait)
        if idle and not ready and time.monotonic() - quiet_since >= QUIET_S:
            machine.stop()
        if wake_in in ready:
            os.read(wake_in, 64)
        if resized:
            resized.clear()
            backlog += size_line()
            machine.go_on()
            quiet_since = time.monotonic()
        if backlog:
            backlog = feed(payload, backlog)
        if 0 in ready:
            keys = os.read(0, 1024)
            if not keys:
                sources.remove(0)
                keys = b"\x04"
            if any(key in LINE_ENDS for key in keys):
                at_prompt = False
            machine.go_on()
            quiet_since = time.monotonic()
            terminal.sendall(keys)
        if terminal in ready:
            text = terminal.recv(65536)
            if not text:
                sources.remove(terminal)
            text, idle_mark, unseen = split_mark(unseen + text)
            at_prompt = at_prompt or idle_mark
            os.write(1, text)
            quiet_since = time.monotonic()
        if machine.connection in ready and not machine.connection.recv(65536):
            sources.remove(machine.connection)
        if status_in in ready:
            status_log.write(os.read(status_in, 4096))
            status_log.flush()


def main():
    directory, command = sys.argv[1], sys.argv[2:]
    paths = {name: os.path.join(directory, name) for name in ("terminal", "monitor", "status.out", "payload.in", "payload.out")}
    for name in ("status.out", "payload.in", "payload.out"):
        os.mkfifo(paths[name])
    # Opened for both, so that neither side waits for the other.
    status_in = os.open(paths["status.out"], os.O_RDWR | os.O_NONBLOCK)
    payload = os.open(paths["payload.in"], os.O_RDWR | os.O_NONBLOCK)
    terminal_server, monitor_server = listen(paths["terminal"]), listen(paths["monitor"])
    qemu = subprocess.Popen(
        command + ["-chardev", "socket,id=terminal,path=" + paths["terminal"], "-qmp", "unix:" + paths["monitor"],
                   "-chardev", "file,id=status,path=" + paths["status.out"],
                   "-chardev", "pipe,id=payload,path=" + paths["payload.in"][:-3]],
        stdin=subprocess.DEVNULL, preexec_fn=os.setpgrp)
    saved = termios.tcgetattr(0)
    try:
        terminal, _ = terminal_server.accept()
        connection, _ = monitor_server.accept()
        tty.setraw(0)
        relay(directory, qemu, Machine(connection), terminal, status_in, payload)
    except (OSError, KeyboardInterrupt) as error:
        sys.stderr.write("lab: %s\n" % error)
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, saved)
        if qemu.poll() is None:
            qemu.terminate()
    return qemu.wait() & 0xff


if __name__ == "__main__":
    sys.exit(main())
