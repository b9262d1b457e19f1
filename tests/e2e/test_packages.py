# SPDX-License-Identifier: BSD-3-Clause
"""The Debian packages: what is in them, what their scripts do, what lintian finds. `scripts/packaging/try-deb` installs, upgrades
and removes them."""
import os
import re
import shutil
import subprocess

import pytest

from harness import BUILD, LONG, ROOT, WATCHED

VERSION = (ROOT / "VERSION").read_text().strip()
UNITS = {f"./lib/systemd/system/{name}.service" for name in ("heapwatchd", "heapwatch-archive", "heapwatch-export")}
USER_UNITS = {f"./usr/lib/systemd/user/{name}.service" for name in ("heapwatchd", "heapwatch-run@")}

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.xdist_group("packages"),
              pytest.mark.skipif(not LONG, reason="has a long form alone: HEAPWATCH_LONG=1")]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Folder of the packages, made of the objects of this build: only what is compiled differs from `make deb`."""
    if WATCHED:
        pytest.skip("packages are built without a sanitizer")
    for tool in ("dh", "dpkg-buildpackage"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is missing: scripts/deps deb")
    if not (ROOT / ".git").exists():
        pytest.skip("packages are built from the tarball, and that from a git tree")
    if not (BUILD / "page" / "out" / "page.html").stat().st_size:
        pytest.skip("a release has the browser page, which was not built here")
    if subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout:
        pytest.skip("packages are built from a commit, and there are changes that are not in one")
    folder = tmp_path_factory.mktemp("deb")
    signatures = folder / "signatures"
    signatures.mkdir()
    (signatures / "ghc-1.2.3.hwsig").write_text("of a GHC")
    tarball = folder / f"heapwatch-{VERSION}.tar.gz"
    subprocess.run([ROOT / "scripts" / "packaging" / "dist", BUILD / "page" / "out", signatures, tarball], check=True)
    done = subprocess.run([ROOT / "scripts" / "packaging" / "deb", tarball, folder / "made"], env={**os.environ, "BUILT": str(BUILD)},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # Only lintian's findings are left to a test of their own.
    assert done.returncode == 0 or "lintian found" in done.stdout, done.stdout
    (folder / "made" / "said").write_text(done.stdout)
    return folder / "made"


def package(packages, name):
    (path,) = packages.glob(f"{name}_{VERSION}-*.deb")
    return path


def contents(packages, name):
    """path -> (mode, owner), of what is no folder."""
    done = subprocess.run(["dpkg-deb", "--contents", package(packages, name)], stdout=subprocess.PIPE, text=True, check=True)
    fields = [line.split(maxsplit=5) for line in done.stdout.splitlines()]
    return {f[5].split(" -> ")[0]: (f[0], f[1]) for f in fields if not f[5].endswith("/")}


def field(packages, name, which):
    return subprocess.run(["dpkg-deb", "--field", package(packages, name), which], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.strip()


def test_each_has_what_it_is_for(packages):
    heapwatch = contents(packages, "heapwatch")
    expected = {"./usr/bin/heapwatch", "./usr/bin/heapwatchd", "./usr/bin/heapwatch-inspect", "./usr/bin/heapwatch-live",
                "./usr/share/bash-completion/completions/heapwatch", "./usr/share/bash-completion/completions/heapwatchd",
                "./usr/share/zsh/vendor-completions/_heapwatch", "./usr/share/fish/vendor_completions.d/heapwatch.fish",
                "./usr/lib/sysusers.d/heapwatch.conf", "./usr/lib/tmpfiles.d/heapwatch.conf",
                "./usr/share/heapwatch/signatures/ghc-1.2.3.hwsig", "./usr/share/doc/heapwatch/changelog.gz", "./usr/share/doc/heapwatch/copyright"} | UNITS | USER_UNITS
    expected |= {f"./usr/share/man/man{page[-1]}/{page}.gz" for page in (
        "heapwatch.1", "heapwatch-live.1", "heapwatch-inspect.1", "heapwatchd.8", "heapwatchd.yaml.5", "heapwatch-rules.5", "heapwatch-export.yaml.5")}
    assert expected <= set(heapwatch)
    assert "./usr/lib/heapwatch/libheapwatch-agent.so" in contents(packages, "libheapwatch-agent")
    library = contents(packages, "libheapwatch0")
    assert any(re.match(r"\./usr/lib/[^/]+/libheapwatch\.so\.0$", path) for path in library)
    development = contents(packages, "libheapwatch-dev")
    for ending in ("/libheapwatch.so", "/libheapwatch.a", "/libheapwatch-agent.a", "/pkgconfig/heapwatch.pc", "/include/heapwatch/subscriber.h",
                   "/share/heapwatch/heapwatch.proto"):
        assert any(path.endswith(ending) for path in development), ending
    everything = [path for each in (heapwatch, library, development, contents(packages, "libheapwatch-agent")) for path in each]
    assert len(everything) == len(set(everything)), "no file is in two packages"
    for files in (heapwatch, library, development):
        assert all(owner == "root/root" and "s" not in mode[1:] for mode, owner in files.values())
    for name in ("heapwatch", "libheapwatch-agent", "libheapwatch0"):
        assert list(packages.glob(f"{name}-dbgsym_*.deb")), name


def test_documents_lead_to_what_is_there(packages, tmp_path):
    """From one document to another, to a picture, an example or the Haskell package: as in the tree."""
    subprocess.run(["dpkg-deb", "--extract", package(packages, "heapwatch"), tmp_path], check=True)
    folder = tmp_path / "usr" / "share" / "doc" / "heapwatch"
    documents = [path for path in folder.rglob("*.md") if path.name != "ARCHITECTURE.md"]     # which is about the sources
    assert {"README.md", "INSTALL.md", "first-hour.md", "COOKBOOK.md", "haskell.md"} <= {path.name for path in documents}
    links = [(path, link) for path in documents for link in re.findall(r"\]\(([^)#\s]+)", path.read_text()) if "://" not in link]
    missing = {f"{path.name}: {link}" for path, link in links if not (path.parent / link).exists()}
    assert missing == {"WEB.md: ../proto/wire/heapwatch.proto", "STABILITY.md: man/heapwatchd.yaml.5"}     # libheapwatch-dev, a man page
    assert len(links) > 100 and os.access(folder / "haskell" / "heapwatch.cabal", os.R_OK)


def test_they_need_what_they_use(packages):
    assert re.search(r"libheapwatch-agent \(= ", field(packages, "heapwatch", "Recommends"))
    assert "libzmq5" in field(packages, "heapwatch", "Depends")
    # Into other people's programs goes what needs the C library alone.
    assert re.fullmatch(r"libc6 \(>= [0-9.]+\)", field(packages, "libheapwatch-agent", "Depends"))
    assert re.search(r"libheapwatch0 \(= ", field(packages, "libheapwatch-dev", "Depends"))


def test_every_public_name_has_its_release(packages, tmp_path):
    """Of dpkg-shlibdeps: a program that uses a newer function needs a newer libheapwatch0."""
    subprocess.run(["dpkg-deb", "--control", package(packages, "libheapwatch0"), tmp_path], check=True)
    symbols = {line.split("@")[0].strip() for line in (tmp_path / "symbols").read_text().splitlines()[1:]}
    done = subprocess.run(["nm", "--dynamic", "--defined-only", "--format=posix", BUILD / "libheapwatch.so"], stdout=subprocess.PIPE,
                          text=True, check=True)
    assert symbols == {line.split()[0].split("@")[0] for line in done.stdout.splitlines()}


def test_nothing_starts_unasked(packages, tmp_path):
    """No unit is enabled, none is started by the installation; what runs is started again by an upgrade, and stopped by the removal."""
    subprocess.run(["dpkg-deb", "--control", package(packages, "heapwatch"), tmp_path], check=True)
    install, remove = (tmp_path / "postinst").read_text(), (tmp_path / "prerm").read_text()
    # Enabled again is what was enabled when it was removed.
    enabling = re.findall(r"if deb-systemd-helper --quiet was-enabled '([^']*)'; then\n[^\n]*\n\s*deb-systemd-helper enable '\1'", install)
    assert install.count("systemd-helper enable") == len(enabling) == len(UNITS) and "systemctl enable" not in install
    starts = [line.strip() for line in install.splitlines() if "deb-systemd-invoke" in line]
    assert starts and all(line.startswith("deb-systemd-invoke try-restart") for line in starts), starts
    assert all(os.path.basename(unit) in starts[0] for unit in UNITS)
    assert "deb-systemd-invoke stop" in remove and all(os.path.basename(unit) in remove for unit in UNITS)
    assert "systemd-sysusers" in install and "systemd-tmpfiles" in install


def test_lintian_finds_nothing(packages):
    if not shutil.which("lintian"):
        pytest.skip("lintian is missing: scripts/deps deb")
    said = (packages / "said").read_text()
    assert [line for line in said.splitlines() if re.match(r"[EW]: ", line)] == []
    assert "lintian found" not in said
