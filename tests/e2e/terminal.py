# SPDX-License-Identifier: BSD-3-Clause
"""A program in a real terminal: a tmux server of its own, keys in, the screen out."""
import os
import subprocess

from harness import CLIENT, wait_for


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
        return subprocess.run(["tmux", "-S", self.socket, *args], env=self.env, check=True, timeout=20,
                              stdout=subprocess.PIPE).stdout.decode(errors="replace")

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", "-t", "t", *options)

    def keys(self, *keys):
        for key in keys:
            self.tmux("send-keys", "-t", "t", key)

    def text(self, text):
        self.tmux("send-keys", "-t", "t", "-l", text)

    def wait(self, *texts):
        """Waits until all of them are on the screen; returns it."""
        try:
            return wait_for(lambda: (lambda s: all(t in s for t in texts) and s)(self.screen()), f"{texts}",
                            deadline_s=20)
        except AssertionError as e:
            raise AssertionError(f"{e}\n{self.screen()}") from None

    def wait_gone(self, text):
        try:
            return wait_for(lambda: (lambda s: text not in s and s)(self.screen()), f"no {text!r}", deadline_s=20)
        except AssertionError as e:
            raise AssertionError(f"{e}\n{self.screen()}") from None

    def row(self, text):
        """The first row that has it, once there is one."""
        return next(line for line in self.wait(text).splitlines() if text in line)

    def resize(self, width, height):
        self.tmux("resize-window", "-t", "t", "-x", str(width), "-y", str(height))

    def exit_status(self):
        """Waits for the program's end."""
        wait_for(lambda: self.tmux("display", "-p", "-t", "t", "#{pane_dead}").strip() == "1", "the end", deadline_s=20)
        return int(self.tmux("display", "-p", "-t", "t", "#{pane_dead_status}").strip() or 0)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], env=self.env, stderr=subprocess.DEVNULL)


def top(directory, *args, **kwargs):
    return Terminal(directory, CLIENT, "top", *args, **kwargs)
