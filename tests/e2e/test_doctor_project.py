# SPDX-License-Identifier: BSD-3-Clause
"""`heapwatch doctor DIRECTORY`: which lines a Haskell project needs, where and why."""
import json
import os
import shutil
import subprocess

import pytest

from harness import client, written

SERVER = """cabal-version: 2.4
name: server
version: 0.1

common shared
  ghc-options: -threaded -Wall

common unused
  ghc-options: -eventlog

library
  exposed-modules: A

executable server
  import: shared
  main-is: Main.hs
  build-depends: base

-- an executable in a comment
executable tool
  main-is: Tool.hs
  ghc-options: -threaded -eventlog "-with-rtsopts=-N -xn"   -- for now

test-suite t
  type: exitcode-stdio-1.0
"""
HPACK = """name: b
executables:
  b:
    main: Main.hs
    ghc-options: [-threaded, -rtsopts]
"""
GENERATED = "cabal-version: 1.12\n\n-- This file has been generated from package.yaml by hpack version 0.35.\n\nname: b\n\nexecutable b\n  main-is: M.hs\n"


def examine(directory):
    done = client("doctor", "--format", "json", directory)
    report = json.loads(done.stdout)
    assert done.returncode == (0 if report["complete"] else 1) and client("doctor", directory).returncode == done.returncode
    return report, [(f["file"], f["line"], f["add"].split("\n")[0].strip()) for f in report["findings"] if f["needed"]]


def test_cabal(tmp_path):
    file = written(tmp_path / "server.cabal", SERVER)
    report, needed = examine(tmp_path)
    assert report["ghcVersion"] is None
    assert needed == [("server.cabal", 17, "if impl(ghc < 9.4)"), ("server.cabal", 22, "remove -xn where bands are wanted")]
    lines = SERVER.replace(" -xn", "").split("\n")
    lines.insert(17, report["findings"][0]["add"])
    file.write_text("\n".join(lines))
    assert examine(tmp_path)[1] == []


@pytest.mark.parametrize("ghc, condition", [("9.6.6", None), ("9.2.8", "ghc-options: -eventlog"), ("8.10.7", "ghc-options: -eventlog")])
def test_the_release_of_ghc_decides(tmp_path, ghc, condition):
    (tmp_path / "cabal.project").write_text(f"packages: pkg\nwith-compiler: ghc-{ghc}\n")
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "pkg.cabal").write_text("name: pkg\nexecutable x\n  main-is: M.hs\n")
    report, needed = examine(tmp_path)
    assert report["ghcVersion"] == ".".join(ghc.split(".")[:2])
    assert needed == ([("pkg/pkg.cabal", 3, condition)] if condition else [])
    # Source places are of 9.2 and later.
    assert any("-finfo-table-map" in f["add"] for f in report["findings"]) == (ghc[0] == "9")


def test_hpack_and_stack(tmp_path):
    """What hpack has written is not the place for options."""
    (tmp_path / "package.yaml").write_text(HPACK)
    (tmp_path / "b.cabal").write_text(GENERATED)
    (tmp_path / "stack.yaml").write_text("resolver: lts-20.26\npackages: [.]\n")
    report, needed = examine(tmp_path)
    assert report["ghcVersion"] == "9.2"
    assert needed == [("package.yaml", 2, "ghc-options: -eventlog"), ("stack.yaml", 2, "build:")]
    (tmp_path / "package.yaml").write_text(HPACK.replace("-rtsopts", "-eventlog"))
    (tmp_path / "stack.yaml").write_text("resolver: lts-20.26\nbuild:\n  executable-stripping: false\n")
    assert examine(tmp_path)[1] == []


def test_what_is_no_project_and_what_is_hostile(tmp_path):
    done = client("doctor", tmp_path)
    assert done.returncode == 2 and b"is not a Haskell project" in done.stderr
    os.mkfifo(tmp_path / "a.cabal")                      # nobody writes: it is not waited for
    (tmp_path / "b.cabal").mkdir()
    assert client("doctor", tmp_path).returncode == 2
    (tmp_path / "c.cabal").write_bytes(b"executable \x1b]0;stolen\x07\n" + b"import:" * 9000 + b"\n\0\xff\n" * 30000)
    done = client("doctor", tmp_path)
    assert done.returncode == 1 and b"\x1b" not in done.stdout and b"-eventlog" in done.stdout


TWO = """name: two
executables:
    one:                # the first
        main: One.hs

        source-dirs: app
    two:
        main: Two.hs
"""
# name: files, and what of them is needed after the patch; None: as they are
PROJECTS = {
    "a stanza in the middle, another with an option to remove": ({"server.cabal": SERVER}, ["remove -xn where bands are wanted"]),
    "no newline at the end": ({"x.cabal": "name: x\nexecutable x\n    main-is: M.hs"}, []),
    "a blank line at the end": ({"x.cabal": "name: x\nexecutable x\n\tmain-is: M.hs\n\n-- end\n\n"}, []),
    "lines that end as in DOS": ({"x.cabal": "name: x\r\nexecutable x\r\n  main-is: M.hs\r\nlibrary\r\n"}, []),
    "a condition at the end of the stanza": ({"x.cabal": "executable x\n  main-is: M.hs\n  if os(linux)\n    cpp-options: -DX\n"}, []),
    "many stanzas": ({"x.cabal": "".join(f"executable x{i}\n  main-is: M.hs\n" for i in range(20))}, []),
    "packages below, with a space": ({"cabal.project": "packages: */\nwith-compiler: ghc-9.2.8\n", "my pkg/x.cabal": "executable x\n  main-is: M.hs\n",
                                      "pkg/y.cabal": "executable y\n  main-is: M.hs\n"}, []),
    "hpack and stack": ({"package.yaml": TWO, "stack.yaml": "resolver: lts-20.26\npackages: [.]"}, []),
    "a condition of hpack": ({"package.yaml": "executable:\n  main: M.hs\n"}, []),
    "build: of stack": ({"package.yaml": TWO, "stack.yaml": "build:\n    test: true\nresolver: lts-22.1\n"}, []),
    "options that hpack has": ({"package.yaml": HPACK, "stack.yaml": "resolver: lts-20.26\n"}, ["ghc-options: -eventlog"]),
    "one of two that hpack has": ({"package.yaml": TWO + "        ghc-options: -O2\n", "stack.yaml": "resolver: lts-20.26\nbuild: {executable-stripping: false}\n"}, None),
    "a stanza in braces": ({"x.cabal": "executable x {\nmain-is: M.hs\n}\n"}, None),
    "a control character": ({"x.cabal": "executable x\n  main-is: M.hs\n-- \x1b[2J\n"}, None),
}


@pytest.mark.parametrize("name", PROJECTS)
def test_the_patch_applies(tmp_path, name):
    """By both tools. What it adds is what was needed; every other line stays as it is, and no file is changed by the command."""
    if not (shutil.which("patch") and shutil.which("git")):
        pytest.skip("needs patch and git")
    files, left = PROJECTS[name]
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(text.encode())
    needed = examine(tmp_path)[1]
    done = client("doctor", tmp_path, "--patch")
    assert all((tmp_path / path).read_bytes() == text.encode() for path, text in files.items())
    if left is None:
        assert done.returncode == 1 and not done.stdout and done.stderr.count(b"not in the patch: ") == len(needed) > 0
        return
    assert done.returncode == (1 if left else 0) and done.stderr.count(b"not in the patch: ") == len(left), done.stderr
    for tool in (["patch", "-p1", "--fuzz=0", "--dry-run"], ["git", "apply"]):
        applied = subprocess.run(tool, input=done.stdout, cwd=tmp_path, capture_output=True)
        assert applied.returncode == 0, applied.stdout + applied.stderr + done.stdout
    assert [add for _, _, add in examine(tmp_path)[1]] == left
    for path, text in files.items():
        lines = (tmp_path / path).read_bytes().decode().split("\n")
        assert all(line.endswith("\r") == text.split("\n")[0].endswith("\r") for line in lines if line), lines
        for line in text.split("\n"):
            lines.remove(line)
        assert all(line.strip() in ("", "if impl(ghc < 9.4)", "ghc-options: -eventlog", "when:", "condition: impl(ghc < 9.4)",
                                    "build:", "executable-stripping: false") for line in lines), lines


def test_a_patch_is_of_a_project(tmp_path):
    (tmp_path / "log").write_text("")
    done = client("doctor", "--patch", tmp_path / "log")
    assert done.returncode == 2 and b"--patch is for the directory of a Haskell project" in done.stderr
