# SPDX-License-Identifier: BSD-3-Clause
"""A headless chromium on its debugging pipe, for benches: nothing watches the page while it loads, as playwright would.

Commands are those of the DevTools protocol, JSON with a NUL after each, on the browser's descriptors 3 (in) and 4 (out).
"""
import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync",
         "--disable-component-update", "--disable-extensions", "--remote-debugging-pipe")


class Chromium:
    def __init__(self, width=1400, height=900):
        self.home = tempfile.mkdtemp(prefix="hw-chromium-")
        ours, theirs = os.pipe(), os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (ours[0], theirs[1])]
        self.process = subprocess.Popen(
            [shutil.which("chromium") or "chromium-browser", *FLAGS, f"--window-size={width},{height}", f"--user-data-dir={self.home}"],
            preexec_fn=lambda: (os.dup2(ends[0], 3), os.dup2(ends[1], 4)), close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (ours[0], theirs[1], *ends):
            os.close(end)
        self.to, self.back, self.last, self.unread = ours[1], theirs[0], 0, b""

    def __call__(self, method, session=None, **params):
        self.last += 1
        command = {"id": self.last, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self.to, json.dumps(command).encode() + b"\0")
        while True:
            while b"\0" not in self.unread:
                got = os.read(self.back, 1 << 20)
                assert got, "chromium is gone"
                self.unread += got
            line, self.unread = self.unread.split(b"\0", 1)
            answer = json.loads(line)
            if answer.get("id") == self.last:
                assert "error" not in answer, f"{method}: {answer.get('error')}"
                return answer["result"]

    def tab(self):
        return Tab(self)

    def close(self):
        self("Browser.close")
        self.process.wait(30)
        shutil.rmtree(self.home, ignore_errors=True)


class Tab:
    """A tab in its own browser context: nothing is cached."""

    def __init__(self, browser):
        self.browser = browser
        self.context = browser("Target.createBrowserContext")["browserContextId"]
        target = browser("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = browser("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def go(self, url):
        self.browser("Page.navigate", self.session, url=url)

    def js(self, expression):
        answer = self.browser("Runtime.evaluate", self.session, expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def shot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.browser("Page.captureScreenshot", self.session)["data"]))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.browser("Target.disposeBrowserContext", browserContextId=self.context)
