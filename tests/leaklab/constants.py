#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/CONSTANTS.md: each tuned constant of the verdict and of the early warning, and what the labs show at half and at double of it.

    constants.py              measures all again and writes the page: an hour
    constants.py NAME ...     measures these again, and what is new
    constants.py --check      whether the page has the constants of the code, each with its value; exit status 1 if not

A constant is a `#define NAME number` of a file that the labs' detectors are made from. For half and double, the detector is compiled from
a copy of the tree in which that one line differs, and scored on the same series as the code as it is.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAGE = os.path.join(ROOT, "docs/CONSTANTS.md")
FOLDER = "daemon/judge/trend/"
DEFINE = re.compile(r"^#define +([A-Z][A-Z_0-9]*) +([0-9][0-9.e-]*)(u?)\b[ \t]*(?:/\*.*?\*/)?[ \t]*$", re.M)
# Sizes of buffers and facts of mathematics are not tuned, nor is what only says how long a rise was, which no score sees.
NOT_TUNED = {"LANES", "MAD_TO_SD", "EARLY_RUNGS", "EARLY_POINTS_MAX", "LADDER_LEVELS", "LADDER_BUCKETS", "LADDER_MINUTES", "LADDER_HIGH_LEVELS",
             "LIFE_BUCKETS", "RINGS_MAX", "MEDIAN_MAX", "THEIL_SEN_MAX", "RARE_SAMPLES", "TREND_EXPLAINS", "WINDOWS_OPEN_MINUTES", "LIFE_NO_OLDER_GROWTH",
             "NO_OLDER_GROWTH", "TIME_SD", "EARLY_MAJORS", "WINDOWS_PER_LEVEL", "TREND_OPEN_MINUTES", "LADDER_FAN", "EARLY_CHILDREN", "WINDOWS_RECENT", "TREND_VALUE_MAX", "TREND_MINUTE_NS",
             "LOST_MARGIN", "SHAPE_BLOCKS", "HIGHER_PART"}

HEAD = """# Tuned constants

Made by `tests/leaklab/constants.py`, which says how; change the code, then run it again. What a constant is for stands beside it in its file,
what the verdicts mean in [VERDICT.md](VERDICT.md). A number is "as it is" in the first row of its table; a cell names what differs from
that by more than scatter does: nothing else changed. "No difference" at half and at double: its exact value does not matter to these series.
The last column, written by hand and kept, says what goes wrong where all that it is part of is removed: what nothing needs is not in the code.
"""


def sources(variable):
    """The files of a list in the Makefile: VERDICT_SRC, EARLY_SRC."""
    with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as f:
        text = re.sub(r"\\\n", " ", f.read())
    folder, names = re.search(rf"^{variable} +:= \$\(addprefix (\S+), (.*?)\)$", text, re.M).groups()
    return [folder + name for name in names.split()]


class Lab:
    def __init__(self, title, main, variable, command, series, measures):
        self.title, self.main, self.command, self.series, self.measures = title, main, command, series, measures
        self.sources = sources(variable)

    def constants(self):
        """[(name, value as written, suffix, file)] in the order of the files; those that both have are the first lab's."""
        found = []
        for source in self.sources:
            if self is not LABS[0] and source in LABS[0].sources:
                continue
            for path in (source.replace(".c", ".h"), source):
                if not os.path.exists(os.path.join(ROOT, path)):
                    continue
                with open(os.path.join(ROOT, path), encoding="utf-8") as f:
                    found += [(n, v, u, path) for n, v, u in DEFINE.findall(f.read()) if n not in NOT_TUNED]
        return found

    def build(self, tree, out):
        made = subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-w", "-I.", "-Iinclude", "-o", out, self.main, *self.sources, "-lm"],
                              cwd=tree, capture_output=True, text=True)
        return made.returncode == 0

    def score(self, tree, folder):
        """{measure: value}, or why there is none."""
        detector, table = os.path.join(folder, "detector"), os.path.join(folder, "table.json")
        if not self.build(tree, detector):
            return "the compiler refuses it"
        if os.path.exists(table):
            os.remove(table)
        subprocess.run([sys.executable, os.path.join(HERE, self.command), "score", "--detector", detector, "--ok", str(self.series[0]),
                        "--leak", str(self.series[1]), "--jobs", "1", "--json", table],
                       capture_output=True, text=True)
        if not os.path.exists(table):
            return "an assertion refuses it"
        with open(table, encoding="utf-8") as f:
            return self.summary(json.load(f))

    def summary(self, table):
        rows = next(iter(table.values())) if isinstance(table, dict) else table
        return {words: value(rows) for words, _, _, value in self.measures}

    def differences(self, usual, other):
        if isinstance(other, str):
            return other
        parts = [f"{words} {show.format(other[words])}" for words, show, scatter, _ in self.measures
                 if abs(other[words] - usual[words]) > scatter]
        return "; ".join(parts) or "no difference"


def mean(rows, key):
    values = [r[key] for r in rows if r.get(key) is not None and r[key] == r[key]]
    return sum(values) / len(values) if values else 0.0


def family(key, leak):
    return lambda rows: mean([r for r in rows if r["leak"] == leak and r["family"] not in ("all", "ALL")], key)


def overall(key, leak):
    return lambda rows: next(r[key] for r in rows if r["leak"] == leak and r["family"] == "ALL")


def total(key):
    return lambda rows: sum(r[key] for r in rows if not r["leak"] and r["family"] not in ("all", "ALL"))


LABS = [
    Lab("The verdict", "tests/bench/heapwatch_trend.c", "VERDICT_SRC", "leaklab.py", (30, 20), [
        ("false leaks", "{:.0f}", 1.5, total("false")),
        ("false growth /1000 h", "{:.1f}", 1.0, family("grow1000", False)),
        ("leaks confirmed", "{:.1f} %", 1.0, family("detect", True)),
        ("after", "{:.1f} h", 0.25, family("detect_h", True)),
        ("noticed after", "{:.2f} h", 0.15, family("notice_h", True)),
        ("held", "{:.2f}", 0.02, family("held", True)),
        ("interval of the slope right", "{:.2f}", 0.02, family("cover", True)),
        ("error of the onset", "{:.3f}", 0.005, family("onset_err", True)),
        ("interval of the time left right", "{:.2f}", 0.02, family("ttl_cover", True)),
    ]),
    Lab("The early warning", "tests/bench/heapwatch_early.c", "EARLY_SRC", "fast/fastlab.py", (12, 12), [
        ("false rises", "{:.0f}", 1.5, overall("rise_false", False)),
        ("false warnings", "{:.0f}", 1.5, overall("warn_false", False)),
        ("rises seen", "{:.1f} %", 2.0, overall("seen", True)),
        ("after", "{:.0f} s", 6, overall("rise_s", True)),
        ("held", "{:.2f}", 0.03, overall("held", True)),
        ("warned 4 s before", "{:.1f} %", 2.0, overall("warned", True)),
        ("with a third left", "{:.1f} %", 2.0, overall("third", True)),
        ("onset inside its interval", "{:.2f}", 0.03, overall("on_cover", True)),
        ("which is as wide as", "{:.2f}", 0.05, overall("on_width", True)),
        ("time left inside its interval", "{:.2f}", 0.03, overall("ttl_cover", True)),
    ]),
]


def scaled(value, suffix, factor):
    number = float(value) * factor
    if suffix or re.fullmatch(r"\d+", value):
        return f"{max(1, round(number))}{suffix}"
    return f"{number:.6g}" if "e" in f"{number:.6g}" or "." in f"{number:.6g}" else f"{number:.6g}.0"


def measure(lab, constant, usual, folder):
    name, value, suffix, path = constant
    tree = os.path.join(folder, "tree")
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        text = f.read()
    cells = []
    for factor in (0.5, 2):
        other = scaled(value, suffix, factor)
        if other == value + suffix:
            cells.append("the same")
            continue
        with open(os.path.join(tree, path), "w", encoding="utf-8") as f:
            f.write(re.sub(rf"^(#define +{name} +){re.escape(value)}{suffix}\b", lambda m: m.group(1) + other, text, flags=re.M))
        cells.append(f"{other.rstrip('u')}: {lab.differences(usual, lab.score(tree, folder))}")
    with open(os.path.join(tree, path), "w", encoding="utf-8") as f:
        f.write(text)
    return cells


def read_page():
    """{(file, name): (value, half, double, without it)} of the page, and {title: its first row}."""
    rows, first = {}, {}
    if os.path.exists(PAGE):
        with open(PAGE, encoding="utf-8") as f:
            text = f.read()
        for title, row in re.findall(r"^## (.*?)\n\n.*?\n\n(As it is: .*?)\n", text, re.M | re.S):
            first[title] = row
        for name, path, value, half, double, without in re.findall(r"^\| `(\w+)` \| `([\w./]+)` \| ([^|]+) \| ([^|]*) \| ([^|]*) \|(?: ([^|]*) \|)?$", text, re.M):
            rows[FOLDER + path, name] = (value, half, double, without or "")
    return rows, first


def main():
    wanted, check = [a for a in sys.argv[1:] if a != "--check"], "--check" in sys.argv[1:]
    rows, first = read_page()
    if check:
        have = {(c[3], c[0]): c[1] for lab in LABS for c in lab.constants()}
        wrong = {key for key in have if rows.get(key, ("",))[0] != have[key]} | {key for key in rows if key not in have}
        for path, name in sorted(wrong):
            print(f"constants: docs/CONSTANTS.md has another {name} than {path}: run tests/leaklab/constants.py {name}", file=sys.stderr)
        return 1 if wrong else 0
    with tempfile.TemporaryDirectory() as folder:
        for part in (FOLDER, "daemon/model", "proto", "include", "tests/bench"):
            shutil.copytree(os.path.join(ROOT, part), os.path.join(folder, "tree", part))
        out = [HEAD]
        for lab in LABS:
            usual = lab.score(os.path.join(folder, "tree"), folder)
            if isinstance(usual, str):
                sys.exit(f"constants.py: the code as it is: {usual}")
            words = "; ".join(f"{m[0]} {m[1].format(usual[m[0]])}" for m in lab.measures)
            out.append(f"\n## {lab.title}\n\nScored by `tests/leaklab/{lab.command}` on {lab.series[0]} series of each family that does not leak and {lab.series[1]} of each that does, seed 1.\n\nAs it is: {words}.\n\n"
                       "| constant | file | value | at half | at double | without it |\n|---|---|---|---|---|---|\n")
            for constant in lab.constants():
                key = constant[3], constant[0]
                if key not in rows or rows[key][0] != constant[1] or constant[0] in wanted or not wanted:
                    rows[key] = (constant[1], *measure(lab, constant, usual, folder), rows.get(key, ("",) * 4)[3])
                    print(constant[0], *rows[key], sep=" | ", flush=True)
                out.append(f"| `{constant[0]}` | `{os.path.basename(constant[3])}` | {' | '.join(rows[key])} |\n")
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write("".join(out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
