# SPDX-License-Identifier: BSD-3-Clause
"""A real browser and `heapwatch web` for the tests: Debian's chromium, driven by playwright-core under node.

`Browser` runs tests/e2e/browser/browser.mjs, `Tab` is one page of it, `Web` is one server.
"""
import base64
import contextlib
import fcntl
import json
import os
import shutil
import subprocess

from harness import BUILD, CLIENT, DEADLINE_S, ROOT, require_page, wait_for

SOURCE = ROOT / "tests" / "e2e" / "browser"


RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))     # of all workers


def install(folder):
    """Once in a run: without a registry, npm tries for more than a minute, and many tests want it."""
    failed = folder / "failed"
    why = failed.read_text() if failed.exists() else ""
    if not why.startswith(f"{RUN}\n"):
        done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL)
        if done.returncode == 0:
            return
        why = f"{RUN}\n{done.stderr}"
        failed.write_text(why)
    raise AssertionError(f"npm ci in {folder} failed:\n{why.partition(chr(10))[2]}")


def installed():
    """The folder with browser.mjs and its packages, installed once per build folder and lock file."""
    folder = BUILD / "browser"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = (SOURCE / "package-lock.json").read_bytes()
        stamp = folder / "installed"
        for name in ("package.json", "package-lock.json", "browser.mjs"):
            shutil.copy(SOURCE / name, folder / name)
        if not stamp.exists() or stamp.read_bytes() != wanted:
            install(folder)
            stamp.write_bytes(wanted)
    return folder


class Browser:
    def __init__(self):
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        assert chromium, "scripts/deps installs chromium"
        self.node = subprocess.Popen(["node", "browser.mjs", chromium], cwd=installed(), text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last = 0
        assert json.loads(self.node.stdout.readline())["value"] == "ready"

    def __call__(self, do, **arguments):
        self.last += 1
        self.node.stdin.write(json.dumps({"id": self.last, "do": do, **arguments}) + "\n")
        self.node.stdin.flush()
        answer = json.loads(self.node.stdout.readline())
        assert answer["id"] == self.last
        if "error" in answer:
            raise AssertionError(f"{do} {arguments}: {answer['error']}")
        return answer["value"]

    def tab(self, **options):
        return Tab(self, self("open", **options))

    def close(self):
        self.node.stdin.close()
        self.node.wait(DEADLINE_S)


class Tab:
    """One page; every command of browser.mjs is a method."""

    def __init__(self, browser, number):
        self.browser, self.number = browser, number

    def __getattr__(self, do):
        return lambda **arguments: self.browser(do, tab=self.number, **arguments)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def go(self, url):
        self.browser("go", tab=self.number, url=str(url))
        return self

    def js(self, expression):
        return self.browser("eval", tab=self.number, js=expression)

    def until(self, expression, timeout=120000):
        """The first true value of the expression."""
        try:
            return self.browser("wait", tab=self.number, js=expression, timeout=timeout)
        except AssertionError as e:
            raise AssertionError(f"{e}; console: {self.diagnostics()}; page: {self.js('document.body.innerText.slice(0, 600)')}") from None

    def diagnostics(self):
        return self.browser("errors", tab=self.number)

    def chart(self, name):
        return self.until(f"(() => {{ const c = heapwatch.chart({json.dumps(name)}); return heapwatch.settled && c?.series?.length ? c : null; }})()")

    def table(self, name):
        return self.until(f"(() => {{ const t = heapwatch.table({json.dumps(name)}); return heapwatch.settled && t?.rows.length ? t : null; }})()")

    def save_file(self, selector):
        """What a click saves: (name, bytes)."""
        got = self.browser("save", tab=self.number, selector=selector)
        return got["name"], base64.b64decode(got["data"])


@contextlib.contextmanager
def opened(**options):
    """A tab of a browser of its own."""
    with contextlib.closing(Browser()) as browser, browser.tab(**options) as tab:
        yield tab


class Web:
    """`heapwatch web` on a port chosen by the system: of files, or of daemons by `--connect`.

    Without a token, unless it must have one: then `url` is the printed address with its token."""

    def __init__(self, *args, token=False):
        token = token or "--allow-control" in args
        self.args = [*([] if token else ["--no-token"]), *map(str, args)]

    def __enter__(self):
        require_page()
        self.process = subprocess.Popen([CLIENT, "web", "--listen", "127.0.0.1:0", *self.args], text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        line = wait_for(self.process.stdout.readline, "the server's address")
        assert "http://" in line, line + self.process.stdout.read()
        self.url = line[line.index("http://"):].strip()
        return self

    def __exit__(self, *exc):
        self.process.terminate()
        self.process.wait(DEADLINE_S)
