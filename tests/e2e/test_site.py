# SPDX-License-Identifier: BSD-3-Clause
"""The documents as a site: every link in it leads somewhere, and one that does not is reported."""
import html
import os
import re
import subprocess

from harness import ROOT, require

# What the first screen of a question's page must have.
ANSWERS = {"Watch a service": "heapwatch run --", "It grows": "heapwatch trend", "It died": "heapwatch post-mortem", "Why is it kept?": "heapwatch why",
           "Which thread?": "heapwatch threads", "Alert me": "heapwatch alerts", "All our services": "heapwatch top --connect",
           "In CI": "heapwatch check", "What does it cost?": "20 to 30 ms", "Is it safe?": "may not", "What does this number mean?": "? in the console"}
SCREEN = 1800       # characters of text


def make_site(out, root=ROOT):
    require("cmark-gfm", "cmark-gfm", "--version")
    require("mandoc", "mandoc", "-T", "lint", "-W", "fatal", ROOT / "docs" / "man" / "heapwatchd.yaml.5")
    return subprocess.run([ROOT / "scripts" / "site", out / "no-man", out / "site", root], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_no_link_of_the_documents_leads_nowhere(directory):
    done = make_site(directory)
    assert done.returncode == 0 and not done.stderr, done.stderr
    cookbook = (directory / "site" / "docs" / "COOKBOOK.html").read_text()
    assert 'id="a-map-without-bounds"' in cookbook and 'href="../examples/Thunks.hs.html"' in cookbook
    assert not re.search(r'(src=|<link [^>]*href=)"(https?:)?//', cookbook)
    assert '"docs/COOKBOOK.html#pinned-memory"' in (directory / "site" / "headings.js").read_text()
    assert os.path.isfile(directory / "site" / "man" / "heapwatch-rules.5.html")


def first_screens(site):
    """question: the text that its first link in the navigation leads to."""
    navigation = (site / "index.html").read_text().split("<nav")[1]
    for question, link in re.findall(r"<h2[^>]*>(.*?)</h2>\s*<ul>\s*<li><a [^>]*?href=\"([^\"]*)\"", navigation, re.S):
        page, _, heading = link.partition("#")
        text = (site / page).read_text().split("<main", 1)[1].split("<nav")[0]
        text = text[text.index(f'id="{heading}"'):] if heading else text
        yield html.unescape(question), html.unescape(re.sub(r"<[^>]+>", "", text.split(">", 1)[1]))[:SCREEN]


def test_each_question_is_answered_by_the_first_screen(directory):
    assert make_site(directory).returncode == 0
    screens = dict(first_screens(directory / "site"))
    assert not [(question, screens.get(question)) for question, answer in ANSWERS.items() if answer not in screens.get(question, "")]


def test_a_link_that_leads_nowhere_is_reported(directory):
    (directory / "docs").mkdir()
    (directory / "README.md").write_text("# One\n\n[a](docs/live.md#two) [b](docs/live.md#three) [c](docs/none.md)\n\n"
                                         "![d](https://example.org/d.png)\n")
    (directory / "docs" / "live.md").write_text("# Live\n\n## Two\n\n[back](../README.md)\n")
    (directory / "docs" / "lost.md").write_text("# Lost\n")
    done = make_site(directory, directory)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "site: docs/lost.md: is in no question: scripts/site has them",
        "site: index.html: docs/live.html#three leads nowhere: docs/live.html has no heading #three",
        "site: index.html: docs/none.md leads nowhere: there is no docs/none.md",
        "site: index.html: loads https://example.org/d.png from another host",
    ], done.stderr
