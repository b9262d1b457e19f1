# SPDX-License-Identifier: BSD-3-Clause
"""A program in a real terminal: its own tmux server, keys in, the screen out."""
import os
import re
import subprocess

from harness import CLIENT, DEADLINE_S, wait_for


class Terminal:
    def __init__(self, directory, *command, width=120, height=36, env=None, term="tmux-256color"):
        self.socket = str(directory / "tmux")
        self.env = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC", **(env or {})}
        self.env.pop("TMUX", None)
        variables = [f"{k}={v}" for k, v in {"TERM": term, "LC_ALL": self.env["LC_ALL"], "TZ": "UTC",
                                             **(env or {})}.items()]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", "t", "-x", str(width), "-y", str(height),
                  "cat")   # a session that stays, so that the server takes options before the program starts
        self.tmux("set", "-g", "remain-on-exit", "on")
        self.tmux("respawn-pane", "-k", "-t", "t", "-c", str(directory), "env", *variables, *map(str, command))

    def tmux(self, *args):
        return subprocess.run(["tmux", "-S", self.socket, *args], env=self.env, check=True, timeout=DEADLINE_S,
                              stdout=subprocess.PIPE).stdout.decode(errors="replace")

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", "-t", "t", *options)

    def keys(self, *keys):
        for key in keys:
            self.tmux("send-keys", "-t", "t", key)
        return self

    def text(self, text):
        self.tmux("send-keys", "-t", "t", "-l", re.sub(";$", r"\;", text))      # at its end tmux takes one for its own

    def wait(self, *texts):
        """Waits until all of them are on the screen; returns it."""
        return self.wait_screen(lambda s: all(t in s for t in texts), f"{texts}")

    def wait_screen(self, condition, what):
        """Waits until condition(screen) holds; returns that screen. A screen may be seen half drawn: all that a test
        wants of one goes into one condition."""
        try:
            return wait_for(lambda: (lambda s: condition(s) and s)(self.screen()), what)
        except AssertionError as e:
            raise AssertionError(f"{e}\n{self.screen()}") from None

    def wait_whole(self, condition, what):
        """As wait_screen(), never half drawn: seen twice, with the console's help opened and closed in between."""
        last = None
        while (screen := self.wait_screen(condition, what)) != last:
            last = screen
            self.keys("?").wait("Numbers")
            self.keys("?")
        return screen

    def wait_row(self, number, text):
        """Waits until that row of the screen has the text."""
        return self.wait_screen(lambda s: text in s.splitlines()[number], f"{text!r} in row {number}")

    def wait_gone(self, text):
        return self.wait_screen(lambda s: text not in s, f"no {text!r}")

    def resize(self, width, height):
        self.tmux("resize-window", "-t", "t", "-x", str(width), "-y", str(height))

    def exit_status(self):
        """Waits for the program's end."""
        wait_for(lambda: self.tmux("display", "-p", "-t", "t", "#{pane_dead}").strip() == "1", "the end")
        return int(self.tmux("display", "-p", "-t", "t", "#{pane_dead_status}").strip() or 0)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], env=self.env, stderr=subprocess.DEVNULL)


def top(directory, *args, **kwargs):
    return Terminal(directory, CLIENT, "top", *args, **kwargs)
