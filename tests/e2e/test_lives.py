# SPDX-License-Identifier: BSD-3-Clause
"""Made lives, asked on all faces at 10 s, 1, 3 and 5 minutes, just before the end, after it, after the daemon was killed, and
from their recordings. At each moment all faces agree on word, verdict, onset, cause, limit, what grows and the numbers, and
what was said just before the end stands. A life at a moment is a log of its own that ends now, so all are written at once."""
import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

import web_browser
from facts import Facts, contradictions
from harness import CLIENT, DEADLINE_S, Daemon, client, pb, private_directory, running, wait_for
from live_log import NO_CAPABILITY, LiveLog

pytestmark = pytest.mark.xdist_group("lives")      # they share a daemon

MIB, S = 1 << 20, 10**9
LIMIT, ONSET, NOTE = 1024 * MIB, 120, "deploy v42"
MOMENTS, THREADS = (10, 60, 180, 300), "threads blocked on an MVar in Main.worker"


def leak(s, met):
    """Live data from ONSET on, up to almost all of -M at `met`."""
    return 20 * MIB + max(0, min(s, met) - ONSET) * 995 * MIB // (met - ONSET) + s % 7 * 8192


def heap_of(live):
    return min(3 * live, LIMIT - MIB)


class Life:
    """`live`: live data at each second; `seconds` until its last moments; `word` then; `near`: it is near its limit then."""

    def __init__(self, live, seconds, word, near=False, marked=False, outside=False, threads=0):
        self.live, self.seconds, self.word, self.near = live, seconds, word, near
        self.marked, self.outside, self.threads = marked, outside, threads


LIVES = {
    "dies": Life(lambda s: leak(s, 600), 600, "LEAK", near=True, marked=True),          # at -M at once
    "stuck": Life(lambda s: leak(s, 480), 600, "LEAK", near=True, marked=True),         # after two minutes of collections at -M
    "young": Life(lambda s: leak(s, 132), 134, "RISING", near=True, marked=True),       # before any verdict
    "leaks": Life(lambda s: leak(s, 1800), 600, "LEAK", marked=True),                   # far from its limit, and is stopped
    "outside": Life(lambda s: leak(s, 1800), 600, "LEAK", outside=True),                # the same of a stripped program
    "threads": Life(lambda s: MIB + s * 24576, 300, "LEAK", outside=True, threads=20),  # each has a stack
    "cache": Life(lambda s: 20 * MIB + min(s, 100) * MIB, 600, "STEADY"),
    "batch": Life(lambda s: 20 * MIB + s % 60 * MIB, 590, "STEADY"),
}
ALIVE = {f"{name}-{at}": (name, at) for name, life in LIVES.items() for at in (*(m for m in MOMENTS if m < life.seconds), life.seconds)}
LAST = {name: f"{name}-{life.seconds}" for name, life in LIVES.items()}


class Written(LiveLog):
    """A log that is written at once."""
    written = None

    def _append(self, data):
        if self.written is None:
            super()._append(data)
        else:
            self.written += data

    def write_all(self):
        data, self.written = self.written, None
        super()._append(bytes(data))


def write(path, life, seconds):
    log = Written(path, start_wall_ns=time.time_ns() - seconds * S, capability=NO_CAPABILITY if life.outside else 0)
    log.written = bytearray()
    log.heap_info(LIMIT, at_ns=2)
    for s in range(1, seconds + 1):
        live = life.live(s)
        if s == ONSET and life.marked:
            log.marker(NOTE, at_ns=s * S - 1000)
        if life.outside:
            log.counted((s, s), s * MIB, None, at_ns=s * S)
        log.live(live, at_ns=s * S, heap=heap_of(live))
        if life.threads:
            log.threads(5 + s * life.threads, at_ns=s * S)
        if s % 10 == 0 and life.threads:
            log.census({THREADS: live}, at_ns=s * S + 1000, threads={THREADS: s * life.threads})
        elif s % 10 == 0:
            log.census({"Main.steady": 20 * MIB, "Main.cache": max(65536, live - 20 * MIB)}, at_ns=s * S + 1000)
    log.write_all()
    return log


# ------------------------------------------------------------------ what a face says

def word_of(value):
    return value.split("_", 1)[1].lower()


def of_trends(trends, labels):
    """A Trends message as JSON has it."""
    f, early = Facts(), trends.get("early", {})
    for t in (t for t in trends["trends"] if "verdict" in t):
        name = labels[t["band"]] if "band" in t else word_of(t["series"])
        for key in ("verdict", "word"):
            f.say(key, name, word_of(t[key]))
        f.say("sentence", name, t["sentence"])
        for key in ("slope", "onsetNs"):
            f.say(key, name, float(t[key]) if key in t else None)
    f.say("where", "", trends["growth"].get("where"))
    f.say("growth", "", trends["growth"]["sentence"])
    f.say("limit", "", float(trends["limitBytes"]) if "limitBytes" in trends else None)
    for key in ("key", "sentence"):
        f.say("rise", key, early.get(key))
    return f


def of_rows(rows):
    """The answers, of a post-mortem or of the page's server."""
    f = Facts()
    for row in rows:
        if row["key"] in ("wrong", "since", "grows", "until"):
            f.say("answer", row["key"], [row.get("said"), row["tone"], row["text"], row.get("timeNs"), row.get("after")])
    return f


def of_target(f, word, culprit, onset_ns, limit_in_ns):
    f.say("one word", "", word)
    f.say("culprit", "", culprit or "none")
    f.say("onset", "", float(onset_ns) if onset_ns is not None else None)
    f.say("limit in", "", float(limit_in_ns) if limit_in_ns is not None else None)
    return f


class Faces:
    """What all faces say of all targets at one moment: target -> face -> Facts. `prefix`: of their names, for recordings."""

    def __init__(self, env, names, web=None, prefix=""):
        self.env, self.operands = env, [prefix + name for name in names]
        self.faces = {name: {} for name in names}
        of_one = [self.of_trend_json, self.of_query, *((self.of_top, self.of_list, self.of_pipe) if web else ())]
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            done = [pool.submit(face) for face in of_one] + [pool.submit(self.of_post_mortem, name, prefix) for name in names]
            if web:
                done.append(pool.submit(self.of_server, web))
            for one in done:
                one.result()

    def contradictions(self, only=None):
        """`only`: what is compared, where numbers change from second to second."""
        kept = {name: {face: {k: v for k, v in f.items() if not only or k[0] in only} for face, f in faces.items()}
                for name, faces in self.faces.items()}
        return [f"{name}: {wrong}" for name, faces in kept.items() for wrong in contradictions(faces)[0]]

    def lines(self, *args):
        done = client(*args, env=self.env)
        assert done.returncode in (0, 1), (args, done.stderr)
        return done.stdout.decode().splitlines()

    def add(self, face, name, facts):
        if name in self.faces:
            self.faces[name][face] = facts

    def of_trend_json(self):
        self.trends = {}
        for line in self.lines("trend", "--format", "json", *self.operands):
            said = json.loads(line)
            self.trends[said["target"]] = said["trends"]
            self.add("trend json", said["target"], of_trends(said["trends"], {int(k): v for k, v in said["labels"].items()}))

    def of_query(self):
        sql = "SELECT target, of, verdict, word, slope, onset, sentence FROM standing"
        for i in range(0, len(self.operands), 10):      # as many sources as a query may have
            rows = map(json.loads, self.lines("query", sql, *self.operands[i:i + 10], "--format", "ndjson"))
            self.add_rows(rows)

    def add_rows(self, rows):
        for row in rows:
            f = self.faces[row["target"]].setdefault("query", Facts())
            for key in ("verdict", "word", "sentence", "slope"):
                f.say(key, row["of"], row[key])
            f.say("onsetNs", row["of"], row["onset"] and row["onset"] * S)

    def of_list(self):
        for line in self.lines("trend"):
            name, word = line.split("  ")[0], line.split("  ", 1)[1].strip().split("  ")[0]
            f = Facts()
            f.say("one word", "", word)
            self.add("trend", name, f)

    def of_pipe(self):
        """A subscriber that comes now has the snapshot."""
        kinds, until = "target,band,trend", time.monotonic() + DEADLINE_S       # of targets there is one a second
        with running(CLIENT, "pipe", "--kinds", kinds, "--format", "json", env={**os.environ, **self.env}, stdout=subprocess.PIPE) as pipe:
            got, wanted = {}, set(self.faces)
            for line in pipe.stdout:
                u = json.loads(line)
                assert time.monotonic() < until, f"nothing of {wanted}"
                of = got.setdefault(u.get("target"), {"labels": {}, "trends": []})
                of["labels"].update({b["id"]: b["label"] for b in u.get("bands", {}).get("bands", [])})
                if "trends" in u:
                    of["trends"] += u["trends"].pop("trends", [])
                    of.update(u["trends"])
                if of["trends"] and all("band" not in t or t["band"] in of["labels"] for t in of["trends"]):
                    wanted.discard(u["target"])
                if not wanted:
                    break
        for name, of in got.items():
            self.add("pipe", name, of_trends(of, of["labels"]))

    def of_top(self):
        for t in json.loads(self.lines("top", "--once", "--format", "json", "--view", "targets")[0])["targets"]:
            f = of_target(Facts(), t["word"], t["culprit"], t["onset_ns"], t["limit_in_ns"])
            f.say("word", "live", t["verdict"])
            f.say("live", "", float(t["live_bytes"]))
            f.say("heap", "", float(t["heap_size_bytes"]))
            f.say("limit", "", float(t["limit_bytes"]))
            self.add("top", t["target"], f)
        for t in json.loads(self.lines("top", "--once", "--format", "json", "--view", "memory")[0])["targets"]:
            f = Facts()
            for row in t["series"]:
                if row["series"] in ("live", "heap"):
                    f.say(row["series"], "", float(row["bytes"]))
                    f.say("word", {"live": "live", "heap": "heap_size"}[row["series"]], row["verdict"])
            self.add("top memory", t["target"], f)

    def of_server(self, web):
        with urllib.request.urlopen(f"{web.url.split('#')[0].rstrip('/')}/api/state") as state:
            for a in json.load(state)["answers"]:
                assert a.get("onsetIsLatest", False) == any(x["said"] == "rises-from-unseen" for x in a["answers"]), a
                self.add("page", a["target"], of_target(of_rows(a["answers"]), a["word"], a.get("culprit"), a.get("onsetNs"), a.get("limitInNs")))

    def of_post_mortem(self, name, prefix):
        said = json.loads(self.lines("post-mortem", "--format", "json", prefix + name)[0])
        f = of_rows(said["rows"])
        f.say("live", "", float(said["memory"]["liveBytes"]))
        f.say("heap", "", float(said["memory"]["heapBytes"]))
        f.say("limit", "", float(said["memory"]["limitBytes"]))
        self.add("post-mortem", name, f)


class Lives:
    def __init__(self, directory):
        self.logs = {name: write(directory / f"{name}.eventlog", LIVES[life], at) for name, (life, at) in ALIVE.items()}
        self.env, self.moments = {"HEAPWATCH_DIR": str(directory)}, {}
        last = {name: LIVES[ALIVE[name][0]] for name in LAST.values()}
        daemon = Daemon(directory, *(f"{n}={directory}/{n}.eventlog" for n in ALIVE),
                        args=("--resolution", "1s", "--leak-after", "60s", "--checkpoint", directory / "state.d", "--checkpoint-every", "100ms", "--record", directory / "recordings"))
        with daemon, web_browser.Web("--connect", daemon.publish) as web:
            for name, (life, at) in ALIVE.items():
                wait_for(lambda: self.as_of(daemon, name) >= (at - 2) * S, f"all of {name}")
            self.ask("alive", ALIVE, web)
            self.kill(daemon, time.time_ns())
            for name, life in last.items():
                wait_for(lambda: self.as_of(daemon, name) >= (life.seconds - 2) * S, f"all of {name} again")
            self.ask("resumed", last, web)
            before_ns = time.time_ns()
            for name, life in last.items():
                if life.word in ("LEAK", "RISING"):     # the shutdown: nothing is held any more
                    self.logs[name].live(83_000, at_ns=(life.seconds + 1) * S)
                self.logs[name].end()
                daemon.ask(pb.Request(end_target=pb.EndTargetRequest(name=name, exit_status=251 if life.near else 1)))
            for name in last:
                daemon.wait_state(name, "CRASHED", "FAILED")
            self.ask("dead", last, web)
            self.kill(daemon, before_ns)
            for name in last:
                daemon.wait_state(name, "CRASHED", "FAILED")
            self.ask("restarted", last, web)
            self.ask("recorded", last, prefix="recording:")

    def kill(self, daemon, since_ns):
        for path in (daemon.directory / "state.d" / f"{name}.checkpoint" for name in LAST.values()):
            wait_for(lambda: path.exists() and path.stat().st_mtime_ns > since_ns, "a checkpoint of that state")
        daemon.end(signal.SIGKILL)
        daemon.start()

    def ask(self, moment, names, web=None, prefix=""):
        """A face that follows the daemon may be behind the others for a moment: then all are asked again."""
        until = time.monotonic() + DEADLINE_S
        while moment not in self.moments or (self.moments[moment].contradictions() and time.monotonic() < until):
            if moment == "alive" and moment in self.moments:
                self.reach_next_second()
            self.moments[moment] = Faces(self.env, names, web, prefix)

    def reach_next_second(self):
        """What comes behind the newest settled second is published with the next one, which a program that runs reaches."""
        for name in {wrong.split(":")[0] for wrong in self.moments["alive"].contradictions()}:
            log, (_, at) = self.logs[name], ALIVE[name]
            log._append(log._block(b"", (at + 1) * S))

    @staticmethod
    def as_of(daemon, name):
        trends = daemon.snapshot(name).get("trends")
        return max((t.as_of_ns for u in trends or [] for t in u.trends.trends), default=0)


@pytest.fixture(scope="module")
def lives():
    with private_directory() as d:
        yield Lives(d)


def said(trends):
    """What is judged: by keys and numbers, of what does not change when a run ends."""
    early = trends.get("early", {})
    live = next(t for t in trends["trends"] if t.get("series") == "SERIES_LIVE")
    facts = {"word": live["word"], "verdict": live["verdict"], "key": live["key"], "where": trends["growth"].get("where"),
             "growth": trends["growth"]["key"], "limit": early.get("limitSource"), "rising": early.get("rising", False)}
    if live["verdict"] in ("VERDICT_GROWING", "VERDICT_LEAK"):
        facts["onset"] = live["onsetNs"]
        facts["cause"] = live.get("noteBefore", live.get("noteAfter", {})).get("text")
        facts["culprit"] = [b["label"] for b in trends["growth"].get("bands", [])][:1]
    if early.get("rising"):
        facts["rise"] = early["onsetFromNs"], early["onsetToNs"]
    return facts


@pytest.mark.parametrize("moment", ["alive", "resumed", "dead", "restarted", "recorded"])
def test_all_faces_agree(lives, moment):
    assert not lives.moments[moment].contradictions(), "\n".join(lives.moments[moment].contradictions())
    assert all(len(faces) >= (3 if moment == "recorded" else 7) for faces in lives.moments[moment].faces.values())


@pytest.mark.parametrize("name", LIVES)
def test_dead_as_alive(lives, name):
    life, last = LIVES[name], LAST[name]
    alive = said(lives.moments["alive"].trends[last])
    assert alive["word"] == "WORD_" + life.word, alive
    for moment in ("resumed", "dead", "restarted", "recorded"):
        assert said(lives.moments[moment].trends[last]) == alive, moment
        if moment == "resumed":
            continue
        answers = [lives.moments[moment].faces[last]["post-mortem"]["answer", key] for key in ("wrong", "since", "grows")]
        assert answers == [lives.moments["dead"].faces[last]["post-mortem"]["answer", key] for key in ("wrong", "since", "grows")], moment
    if life.marked and "onset" in alive:
        assert alive["cause"] == NOTE and abs(int(alive["onset"]) - ONSET * S) < 10 * S


@pytest.mark.parametrize("name", [n for n, life in LIVES.items() if life.near])
def test_growth_that_met_its_limit(lives, name):
    for moment, faces in lives.moments.items():
        early = faces.trends[LAST[name]]["early"]
        assert early["runsOut"] and early["key"].startswith("rise-"), (moment, early)
        assert int(early["onsetFromNs"]) <= ONSET * S <= int(early["onsetToNs"]), (moment, early)
        if moment not in ("alive", "resumed"):
            assert early["atLimit"] and early["key"] == "rise-met-limit", (moment, early)
        if LIVES[name].word == "LEAK":
            for sentence in (value for (what, _), (value, _) in faces.faces[LAST[name]]["post-mortem"].items() if what == "answer"):
                assert "no lasting growth" not in sentence[2] and "too short for a verdict" not in sentence[2], (moment, sentence)


@pytest.mark.parametrize("name", LIVES)
def test_last_values_are_the_programs(lives, name):
    for moment in ("dead", "restarted", "recorded"):
        f, live = lives.moments[moment].faces[LAST[name]]["post-mortem"], LIVES[name].live(LIVES[name].seconds)
        assert (f["live", ""][0], f["heap", ""][0]) == (live, heap_of(live)), moment


# ------------------------------------------------------------------ with a process

LEAKS = "import time\nkept = []\nwhile True:\n    kept.append(b'x' * (1 << 20))\n    time.sleep(0.05)\n"
KEYS = ("verdict", "word", "one word", "culprit", "where")


def test_a_leak_of_c_and_a_stop(directory):
    """Foreign memory of a process rises, then it is stopped: one word and one place on all faces, then none but "stopped"."""
    env = {"HEAPWATCH_DIR": str(directory)}
    with Daemon(directory, f"c={directory}/c.eventlog") as d, web_browser.Web("--connect", d.publish) as web, \
            running(sys.executable, "-S", "-c", LEAKS) as process:
        log = LiveLog(directory / "c.eventlog")
        log.process(process.pid)

        def rises():
            log.live(2 * MIB)
            return any(u.trends.early.rising and u.trends.early.series == pb.SERIES_FOREIGN for u in d.snapshot("c").get("trends", []))

        def agree(only):
            faces = Faces(env, ["c"], web)
            return not faces.contradictions(only) and faces

        wait_for(rises, "the rise", poll_s=0.5)
        faces = wait_for(lambda: agree(KEYS), "faces that agree").faces["c"]
        assert {faces[face]["one word", ""][0] for face in ("trend", "top", "page")} == {"rising"}
        assert {faces[face]["culprit", ""][0] for face in ("top", "page")} == {"foreign"}
        assert faces["page"]["answer", "wrong"][0][:2] == ["rising", "warn"]
        os.kill(process.pid, signal.SIGSTOP)
        d.wait_state("c", "STOPPED")
        faces = wait_for(lambda: agree((*KEYS, "limit", "live", "heap")), "faces that agree").faces["c"]
        assert {faces[face]["one word", ""][0] for face in ("trend", "top", "page")} == {"stopped"}
        assert faces["page"]["answer", "wrong"][0][0] == faces["post-mortem"]["answer", "wrong"][0][0] == "stopped"
