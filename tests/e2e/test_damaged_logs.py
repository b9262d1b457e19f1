# SPDX-License-Identifier: BSD-3-Clause
"""Logs damaged in each way that files are: what is lost is counted and said, a check of them does not pass, nothing that
they do not show is claimed, and none of them costs more than it is worth."""
import gzip
import json
import random
import struct

import pytest

from harness import LONG, LOGS, client, without_page, written

LOG = (LOGS / "leaky-hT-ghc902" / "run.eventlog").read_bytes()
HEADER = LOG.index(b"hdredatb") + 8
MIDDLE = len(LOG) // 2
MIB = 1 << 20
ZEROS = gzip.compress(bytes(64 * MIB), mtime=0)


def flipped(at, bit):
    """One bit of the byte `at` of the log is another."""
    return LOG[:at] + bytes([LOG[at] ^ 1 << bit]) + LOG[at + 1:]


def event_at(at):
    """Where an event of the block that is there begins: a block marker says its bytes, times and capability."""
    marker = struct.pack(">H", 18)
    while True:
        at = LOG.index(marker, at)
        begin, size, end = struct.unpack(">QIQ", LOG[at + 2:at + 22])
        if begin < end < 10**11 and 24 < size < 1 << 21:
            return at + 24
        at += 1


def declared(number):
    """The log, whose header declares one more type of event, of eight bytes."""
    record = b"etb\0" + struct.pack(">HHI", number, 8, 4) + b"mine" + struct.pack(">I", 0) + b"ete\0"
    at = LOG.index(b"hete")
    return LOG[:at] + record + LOG[at:]


packed = gzip.compress(LOG, mtime=0)
EVENT = event_at(HEADER + 30)
LOST, CUT, UNREAD = "damaged and ", "log-not-completed\n      the program did not complete its log, so how it ended is not known: the file ends, without an end marker", "not all of the log was read and judged: "

# What is wrong, the bytes, the exit status of `check`, and what it says.
CLASSES = [
    ("nothing", LOG, 0, "nothing fired"),
    ("a bit of an event's number", flipped(EVENT, 6), 1, LOST),
    ("a bit of an event's time", flipped(EVENT + 2, 5), 1, LOST),
    ("a bit that means nothing, of a text in the header", flipped(LOG.index(b"Create thread"), 5), 0, "nothing fired"),
    ("zeros in the middle", LOG[:MIDDLE] + bytes(4096) + LOG[MIDDLE + 4096:], 1, LOST),
    ("bytes are missing in the middle", LOG[:MIDDLE] + LOG[MIDDLE + 100:], 1, "damaged at 1 place"),
    ("bytes too many in the middle", LOG[:MIDDLE] + b"\0\x2a" * 50 + LOG[MIDDLE:], 1, LOST),
    ("one byte behind the end", LOG + b"\0", 1, "1 B of the log is damaged"),
    ("zeros behind the end", LOG + bytes(5000), 1, "4.88 KiB of the log is damaged"),
    ("garbage behind the end", LOG + random.Random(1).randbytes(1000), 1, "1000 B of the log is damaged"),
    ("nothing but zeros behind the header", LOG[:HEADER] + bytes(5000), 1, LOST),
    ("it breaks off in the middle", LOG[:MIDDLE], 1, CUT),
    ("it breaks off before the end marker", LOG[:-2], 1, CUT),
    ("it breaks off in the header", LOG[:HEADER // 2], 2, "only its beginning"),
    ("the log twice: two runs", LOG + LOG, 0, "nothing fired"),
    ("twice, the first without its end", LOG[:-2] + LOG, 1, "a new header came before the end marker"),
    ("a type of event that nobody knows", declared(250), 0, "nothing fired"),
    ("its archive breaks off", packed[:len(packed) // 2], 1, UNREAD + "its gzip archive breaks off"),
    ("something else follows its archive", packed + b"cut off here", 1, UNREAD + "its gzip archive is followed by something else"),
    ("it is packed twice", gzip.compress(packed), 2, "reads it, unless it is packed twice"),
    ("lz4 data with its beginning in plain", b"\x04\x22\x4d\x18\x64\x40\xa7\x6f\x7f\x08\0\xf5\x28" + LOG[:200], 2, "lz4 data: unpack it first"),
    ("its archive is damaged", packed[:-6] + bytes([packed[-6] ^ 1]) + packed[-5:], 1, UNREAD + "its gzip archive is damaged"),
]


@pytest.mark.parametrize("data, status, words", [c[1:] for c in CLASSES], ids=[c[0] for c in CLASSES])
def test_a_class_of_damage(directory, data, status, words):
    path = written(directory / "run.eventlog", data)
    done = client("check", path)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == status and words in said, done
    # One thing that is wrong is reported once, and an end that is not known is not called a crash.
    assert said.count("  warning: ") + said.count("  critical: ") == (status == 1), said
    summary = client("summary", path)
    shown = summary.stdout.decode()
    assert summary.returncode == (2 if status == 2 else 0), summary
    assert ("nothing lost" in shown) == (status == 0 or words in (CUT, "a new header came before the end marker")), shown
    if words in (LOST, "damaged at 1 place") or "of the log is damaged" in words:
        assert " damaged place" in shown, shown
    if words.startswith(UNREAD):
        assert "not all of the log was read: " + words[len(UNREAD):] in shown and "crashed" not in said, shown


def test_what_is_before_a_log_changes_nothing_of_it(directory):
    """As in an archive of tar: how much it is is said, and the run is judged in the same steps."""
    path = directory / "run.eventlog"
    said = []
    for before in 0, 512, 100000:
        path.write_bytes(random.Random(1).randbytes(before) + LOG)
        said.append(json.loads(client("trend", "--format", "json", path).stdout))
        done = client("check", path)
        assert done.returncode == (1 if before else 0), done
        assert (f" {before} B of the log" if before == 512 else "97.7 KiB of the log" if before else "nothing fired").encode() in done.stdout, done

    def judged(trend):
        return [(s.get("series"), s.get("verdict"), s.get("slope")) for s in trend["trends"]["trends"]]

    assert judged(said[0]) == judged(said[1]) == judged(said[2]) and judged(said[0])


# Three gigabytes when they are unpacked, of which nothing can be read.
BOMBS = {"behind a log that has ended": gzip.compress(LOG) + 48 * ZEROS,
         "in the middle of a log": gzip.compress(LOG[:MIDDLE]) + 48 * ZEROS + gzip.compress(LOG[MIDDLE:]),
         "behind a header": gzip.compress(LOG[:HEADER]) + 48 * ZEROS}


READERS = [("check",), ("summary",), ("trend",), ("alerts",), ("top", "--once"), ("convert", "--to", "csv", "--output", "/dev/null"),
           ("report", "--output", "/dev/null", *(["--format", "json"] if without_page() else []))]


@pytest.mark.long
@pytest.mark.parametrize("bomb, words", [pytest.param(bomb, words, id=f"{words[0]} {bomb}")
                                         for k, words in enumerate(READERS) for i, bomb in enumerate(BOMBS) if LONG or k == 0 or k % 3 == i])
def test_a_bomb_is_not_read_to_its_end(directory, bomb, words):
    path = written(directory / "bomb.gz", BOMBS[bomb])
    done = client(*words, path, cwd=directory)
    assert b"reading stopped after 268," in done.stderr and b"256 MiB of them are damaged" in done.stderr, done
    assert done.returncode == (words[0] == "check") or words[0] == "alerts" and done.returncode == 1, done


def test_a_bomb_without_a_log_is_refused(directory):
    (directory / "bomb.gz").write_bytes(48 * ZEROS)
    done = client("check", directory / "bomb.gz")
    assert done.returncode == 2 and b"reading stopped after 268," in done.stderr, done


def test_a_text_that_says_nothing_any_more_is_not_read_to_its_end(directory):
    text = (LOGS / "leaky-hT-ghc902" / "run.hp").read_bytes()
    lines = gzip.compress(b"\n" * (16 * MIB))
    (directory / "run.hp.gz").write_bytes(gzip.compress(text) + 200 * lines)
    done = client("summary", directory / "run.hp.gz")
    assert done.returncode == 0 and b"reading stopped after 64 MiB of text that say nothing" in done.stderr, done


def test_what_follows_a_large_hole_is_not_lost(directory):
    """A disk that lost 200 MiB of a file, or a file that was copied without them: all but the events at its edges is there."""
    def events(path):
        return json.loads(client("summary", "--format", "json", path).stdout)["stream"]["events"]

    whole, holed = directory / "whole.eventlog", directory / "holed.eventlog"
    whole.write_bytes(LOG)
    with open(holed, "wb") as f:
        f.write(LOG[:MIDDLE])
        f.seek(200 * MIB, 1)
        f.write(LOG[MIDDLE:])
    assert events(whole) - 2 <= events(holed) <= events(whole)
    said = client("check", holed)
    assert said.returncode == 1 and b"200 MiB of the log" in said.stdout and b"not all of the log" not in said.stdout, said
