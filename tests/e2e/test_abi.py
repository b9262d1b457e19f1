# SPDX-License-Identifier: BSD-3-Clause
"""scripts/check-abi finds what would break a program built with the last release, and accepts the rest."""
import subprocess

import pytest

from harness import ROOT

pytestmark = pytest.mark.xdist_group("abi")      # its tests share what runs

HEADER = """
struct hw_options { int size; const char *name; };
struct hw_stats { unsigned long bytes, events; };
struct _Hw__Message { int kind; union { long number; const char *text; }; };
typedef struct _Hw__Message Hw__Message;
enum hw_status { HW_OK, HW_BAD };
struct hw_log;
struct hw_log *hw_new(const struct hw_options *options);
const struct hw_stats *hw_stats(const struct hw_log *log);
enum hw_status hw_take(struct hw_log *log, Hw__Message *message);
"""
SOURCE = """
#include "hw.h"
struct hw_log { struct hw_stats stats; };
static struct hw_log one;
struct hw_log *hw_new(const struct hw_options *options) { return options ? &one : 0; }
const struct hw_stats *hw_stats(const struct hw_log *log) { return &log->stats; }
enum hw_status hw_take(struct hw_log *log, Hw__Message *message) { return log && message ? HW_OK : HW_BAD; }
"""


def build(directory, replaced=()):
    header, source = HEADER, SOURCE
    for old, new in replaced:
        assert old in header + source, old
        header, source = header.replace(old, new), source.replace(old, new)
    (directory / "hw.h").write_text(header)
    (directory / "hw.c").write_text(source)
    subprocess.run(["gcc", "-shared", "-fPIC", "-g", "-o", "libhw.so", "hw.c"], cwd=directory, check=True)


def check(directory, *words):
    done = subprocess.run([ROOT / "scripts" / "check-abi", "--headers", directory, "--file", directory / "abi", *words,
                           directory / "libhw.so"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    directory = tmp_path_factory.mktemp("abi")
    build(directory)
    assert check(directory, "--soversion", "3", "--record") == (0, "")
    assert check(directory, "--soversion", "3") == (0, "")
    return directory


BREAKS = {
    "a function is gone": (["const struct hw_stats *hw_stats(", "static inline const struct hw_stats *hw_stats("],
                           "function hw_stats is gone"),
    "another parameter": (["struct hw_log *log, Hw__Message", "struct hw_log *log, const Hw__Message"],
                          "function hw_take was"),
    "fields change places": (["bytes, events;", "events, bytes;"], "struct hw_stats.bytes was at 0: unsigned long int, now at 8"),
    "a field in front": (["{ int kind;", "{ long sequence; int kind;"], "struct _Hw__Message.text was at 8"),
    "a field of another type": (["int kind;", "unsigned kind;"], "struct _Hw__Message.kind was at 0: int, now at 0: unsigned int"),
    "what callers allocate grows": (["const char *name; }", "const char *name; int more; }"],
                                    "struct hw_options is allocated by callers: it was 16 bytes, fixed, now 24 bytes, fixed"),
    "a constant in between": (["HW_OK, HW_BAD", "HW_OK, HW_LATER, HW_BAD"], "enum hw_status.HW_BAD was 1, now 2"),
}


@pytest.mark.parametrize("what", BREAKS)
def test_what_breaks_programs(recorded, what):
    replaced, says = BREAKS[what]
    build(recorded, [replaced])
    status, text = check(recorded, "--soversion", "3")
    assert status == 1 and says in text and "raise SOVERSION (3)" in text
    assert check(recorded, "--soversion", "4") == (0, ""), "another SOVERSION is for this"
    assert check(recorded, "--soversion", "2")[0] == 2


@pytest.mark.parametrize("replaced", [
    ["unsigned long bytes, events;", "unsigned long bytes, events, lost;"],
    ["const char *text; };", "const char *text; double real; }; int behind;"],
    ["HW_OK, HW_BAD", "HW_OK, HW_BAD, HW_LATER"],
    ["enum hw_status hw_take(", "int hw_new_one(void); enum hw_status hw_take("],
], ids=["field", "message", "constant", "function"])
def test_what_is_added_breaks_nothing(recorded, replaced):
    more = [("struct hw_log { ", "int hw_new_one(void) { return 1; } struct hw_log { ")] if "hw_new_one" in replaced[1] else []
    build(recorded, [replaced, *more])
    assert check(recorded, "--soversion", "3") == (0, "")


def test_without_debug_information_nothing_is_claimed(recorded):
    build(recorded)
    subprocess.run(["strip", "-g", recorded / "libhw.so"], check=True)
    status, text = check(recorded, "--soversion", "3")
    assert status == 2 and "build with -g" in text
