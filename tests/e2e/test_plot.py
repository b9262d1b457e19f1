# SPDX-License-Identifier: BSD-3-Clause
"""`heapwatch report` as a picture, compared by what is in them, not by pixels. The heights of an SVG's areas are bytes."""
import re
import xml.etree.ElementTree as ElementTree

import numpy
import pytest

from harness import LOGS, client, printed
from test_convert import Truth, log_of

SVG = "{http://www.w3.org/2000/svg}"


def plotted(run, out, *args):
    printed("report", log_of(run) if isinstance(run, str) else run, "-o", out, *args)
    return out.read_bytes()


class Picture:
    """Areas, lowest first, as points of their upper edge; the frame; the scales from the order file."""

    def __init__(self, run, directory, *args):
        root = ElementTree.fromstring(plotted(run, directory / "x.svg", "--save-order", directory / "x.aux", *args))
        self.areas, self.frame = [], None
        for path in root.iter(SVG + "path"):
            style, points = path.get("style", ""), re.findall(r"[ML] ([-\d.]+) ([-\d.]+)", path.get("d", ""))
            points = [(float(x), float(y)) for x, y in points]
            fill = re.search(r"fill:(rgb\([^)]*\))", style)
            if fill and ("stroke:none" in style or "stroke-width:0.4;" in style):
                edge = points[:1]                           # to the right; then the path goes back below
                while points[len(edge)][0] > edge[-1][0]:
                    edge.append(points[len(edge)])
                self.areas.append((fill[1], edge))
            elif "fill:none" in style and len(points) == 5 and "stroke-width:1;" in style:
                self.frame = points
        xs, ys = [x for x, _ in self.frame], [y for _, y in self.frame]
        self.left, self.right, self.top, self.bottom = min(xs), max(xs), min(ys), max(ys)
        order = (directory / "x.aux").read_text().splitlines()
        self.x_s, self.y_bytes = float(order[0].split()[1]), int(order[1].split()[1])
        self.labels = [line.split(" ", 1)[1] for line in order[2:]]

    def bytes_at(self, seconds):
        """Of each area at a time; cairo leaves points out that lie on a line between others."""
        x, below, found = self.left + seconds * (self.right - self.left) / self.x_s, self.bottom, []
        for _, edge in self.areas:
            y = numpy.interp(x, [p[0] for p in edge], [p[1] for p in edge])
            found.append((below - y) * self.y_bytes / (self.bottom - self.top))
            below = y
        return found


@pytest.mark.parametrize("run", ["leaky-hT-ghc9103", "cc-hc-ghc9103", "cc-hb-ghc902", "crash-kill9-ghc9103"])
def test_every_band_of_every_census_is_as_high_as_it_is_large(run, directory):
    truth, p = Truth(run), Picture(run, directory, "--no-notes", "--lines", "none", "--bands", "5", "--threshold", "0")
    sums = {}
    for _, census in truth.censuses:
        for band, n in census.items():
            sums[band] = sums.get(band, 0) + n
    largest = sorted(sums, key=lambda b: (-sums[b], b))[:5]
    assert p.labels == [truth.bands[b]["label"] for b in largest]
    assert p.areas[0][1][0][0] == pytest.approx(p.left + truth.censuses[0][0] / 1e9 / p.x_s * (p.right - p.left), abs=0.01)
    point = p.y_bytes / (p.bottom - p.top) / 20             # cairo counts in 256ths of a point
    for time_ns, census in truth.censuses:
        expected = [census.get(b, 0) for b in largest]
        expected.append(sum(census.values()) - sum(expected))
        assert p.bytes_at(time_ns / 1e9)[:len(p.areas)] == pytest.approx(expected[:len(p.areas)], abs=point)
    assert len({fill for fill, _ in p.areas}) == len(p.areas)


def test_threshold_number_and_themes(directory):
    few = Picture("leaky-hT-ghc9103", directory, "--bands", "2")
    assert len(few.areas) == 3 and len(few.labels) == 2
    assert len(Picture("leaky-hT-ghc9103", directory, "--threshold", "10").labels) == 4
    fills = {theme: [fill for fill, _ in Picture("leaky-hT-ghc9103", directory, "--theme", theme).areas]
             for theme in ("light", "dark", "print")}
    assert fills["light"] != fills["print"]
    assert all(len(set(re.findall(r"[\d.]+%", fill))) == 1 for fill in fills["print"])        # greys alone


def test_order_and_scales_of_another_picture(directory):
    first = Picture("leaky-hT-ghc902", directory, "--bands", "4")
    (directory / "first.aux").write_text((directory / "x.aux").read_text())
    second = Picture("leaky-hT-ghc902", directory, "--sort", "name", "--order", directory / "first.aux", "--bands", "4")
    assert (second.x_s, second.y_bytes) == (first.x_s, first.y_bytes)
    assert [fill for fill, _ in second.areas] == [fill for fill, _ in first.areas]


@pytest.mark.parametrize("ending, magic", [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("ps", b"%!PS-Adobe"),
                                           ("eps", b"%!PS-Adobe-3.0 EPSF")])
def test_kinds_of_pictures(ending, magic, directory):
    assert plotted("cc-hy-ghc9103", directory / f"x.{ending}").startswith(magic)
    assert [p.name for p in directory.iterdir()] == [f"x.{ending}"]


@pytest.mark.parametrize("log", [LOGS / "cc-hy-ghc9103" / "run.hp", LOGS / "torn-966-10" / "run.eventlog",
                                 LOGS / "steady-gc-ghc902" / "run.eventlog"])
def test_what_else_is_drawn(log, directory):
    data = plotted(log, directory / "x.svg", "--traces", "--small-title")
    assert ElementTree.fromstring(data).tag == SVG + "svg"


@pytest.mark.parametrize("run, dots", [("binmsg-ghc9103", 2), ("binmsg-ghc902", 0)])
def test_what_was_sampled_once_is_a_dot(run, dots, directory):
    data = plotted(run, directory / "x.svg").decode()
    assert len(re.findall(r'fill:rgb[^"]*" d="M [\d. ]+ C ', data)) == dots


def test_a_log_without_anything_to_draw(directory):
    done = client("report", log_of("leaky-useronly-ghc902"), "-o", directory / "x.svg")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and b"-hT" in done.stderr
    assert not list(directory.iterdir())


@pytest.mark.parametrize("args, word", [(["--theme", "dark"], b"-o FILE.svg"), (["-o", "x.gif"], b".svg"),
                                        (["-o", "x.svg", "--format", "pdf"], b"not pdf"), (["-o", "x.svg", "--reverse"], b"a page"),
                                        (["-o", "x.svg", "--sort", "gradient"], b"stddev"), (["-o", "x.svg", "--bands", "61"], b"60"),
                                        (["-o", "x.svg", "--run", "2"], b"has 1 run, not 2"), (["-o", "x.svg", LOGS], b"one log"),
                                        (["-o", "x.svg", "--lines", "all"], b"heap"),
                                        (["-o", "x.svg", "--threshold", "nan"], b"percent"),
                                        (["-o", "/nowhere/x.svg"], b"cannot write"),
                                        (["-o", "x.svg", "--order", "/nowhere"], b"/nowhere")])
def test_what_a_picture_refuses(args, word, directory):
    done = client("report", log_of("cc-hc-ghc9103"), *args)
    assert done.returncode == 2 and word in done.stderr


def test_the_ending_is_the_format(directory):
    log = log_of("cc-hc-ghc9103")
    assert client("report", log, "-o", directory / "x.json").returncode == 0
    assert (directory / "x.json").read_bytes().startswith(b'{"state":')
    done = client("report", log, "-o", "-", "--format", "svg")
    assert done.returncode == 0 and done.stdout.startswith(b"<?xml")
    done = client("report", "api", "-o", directory / "x.svg")
    assert done.returncode == 2 and b"recording:api" in done.stderr
    assert b"report -o FILE.svg" in client("plot", log).stderr
    assert [p.name for p in directory.iterdir()] == ["x.json"]


def test_the_top_of_the_axis_is_given(directory):
    assert Picture("leaky-hT-ghc902", directory, "--y-axis", "64MiB").y_bytes == 64 << 20
