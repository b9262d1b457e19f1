# SPDX-License-Identifier: BSD-3-Clause
"""What `make install` installs is enough: programs that run, a library that other programs link with."""
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile

import pytest

from harness import BUILD, DEADLINE_S, LOGS, LONG, ROOT, WATCHED, Daemon, wait_for

pytestmark = pytest.mark.xdist_group("install")      # its tests share what runs

# The build folder as the build itself names it: another spelling means other flags, and all is compiled again.
BUILD_NAME = os.environ.get("BUILD") or os.path.relpath(BUILD, ROOT)

FOLLOW = """
#include <heapwatch/subscriber.h>
#include <stdio.h>

int main(int argc, char **argv)
{
        struct hw_subscriber_options options = { .endpoints = (const char *const *)argv + 1, .n_endpoints = argc - 1 };
        struct hw_subscriber *s = hw_subscriber_new(&options);
        const Hw__Update *u;
        int r;

        while (s && (r = hw_subscriber_next(s, 120000, &u)) > HW_SUBSCRIBER_NOTHING) {
                if (r == HW_SUBSCRIBER_UPDATE && u->body_case == HW__UPDATE__BODY_HEAP) {
                        printf("%s %llu\\n", u->target, (unsigned long long)u->heap->live_bytes);
                        hw_subscriber_destroy(&s);
                        return 0;
                }
        }
        return 2;
}
"""


# A program that defines names which the library uses internally.
NAMES = """
#include <heapwatch/eventlog.h>
#include <heapwatch/requester.h>

int lose = 1, missed = 2;
int nearest(void) { return 3; }
int hash_text(const char *text) { return text[0]; }
int arena_alloc(void) { return 5; }
int queue_push(void) { return 6; }

int main(void)
{
        struct hw_eventlog *log = hw_eventlog_new();
        struct hw_requester *r = hw_requester_new(0, 0);
        bool made = log && r;

        hw_eventlog_destroy(&log);
        hw_requester_destroy(&r);
        return made && lose + missed + nearest() + hash_text("a") + arena_alloc() + queue_push() == 114 ? 0 : 1;
}
"""


def make_install(root, *variables):
    """Installs what is built; skips the test where make would first build it anew, below the tests that run beside this one."""
    def make(*words):
        return subprocess.run(["make", "--no-print-directory", f"BUILD={BUILD_NAME}", *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout

    stamps = [f"{BUILD_NAME}/obj/{name}" for name in ("flags", "commit")]
    same = [subprocess.run(["sh", "-c", make("-n", s).rpartition(" || ")[0]], cwd=ROOT).returncode == 0 for s in stamps]     # what the recipe asks
    if not all(same) or "  CC\t" in make("-n", *(f"-o{s}" for s in stamps), "all"):
        pytest.skip(f"make install would rebuild {BUILD_NAME}, for other flags or changed sources: use `make check-one`")
    make("-s", "install", *variables, f"DESTDIR={root}")
    return root


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    if WATCHED:
        pytest.skip("a library with a sanitizer cannot be linked elsewhere")
    return make_install(tmp_path_factory.mktemp("root"), "PREFIX=/opt/hw") / "opt" / "hw"


def test_programs_and_pages(installed):
    for name in ("heapwatch", "heapwatchd"):
        done = subprocess.run([installed / "bin" / name, "--version"], stdout=subprocess.PIPE, check=True)
        assert done.stdout.split()[0] == name.encode()
    pages = {p.name for p in (installed / "share" / "man").glob("man*/*")}
    assert {"heapwatch.1", "heapwatch-live.1", "heapwatch-inspect.1", "heapwatchd.8", "heapwatchd.yaml.5", "heapwatch-rules.5", "heapwatch-export.yaml.5"} <= pages
    # The client finds its daemon beside itself.
    log = LOGS / "parallel-ghc9103" / "run.eventlog"
    done = subprocess.run([installed / "bin" / "heapwatch", "pipe", "--format", "json", log], stdout=subprocess.PIPE, check=True)
    assert done.stdout.count(b"\n") > 3
    done = subprocess.run([installed / "bin" / "heapwatch", "doctor", "--systemd", "api"], stdout=subprocess.PIPE, text=True, check=True)
    assert f"\nEnvironment=LD_PRELOAD={installed}/lib/libheapwatch-agent.so\n" in done.stdout, "a path to read, not bin/../lib"


def test_the_front_loads_few_libraries_and_continues_in_the_live_program(installed, tmp_path):
    """What reads finished logs starts without the libraries of networks, pictures and terminals."""
    front = installed / "bin" / "heapwatch"
    loaded = subprocess.run(["ldd", front], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert loaded.count(" => ") <= 10, loaded
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    for words in (["status"], ["trend", "nobody"], ["report", "nothing.eventlog"], ["diff", "api@now", "--against", "api@last-week"]):
        done = subprocess.run([front, *words], stderr=subprocess.PIPE, text=True, env=env)
        assert done.returncode == 2 and done.stderr.startswith(f"heapwatch {words[0]}: "), (words, done)
    alone = tmp_path / "bin" / "heapwatch"
    alone.parent.mkdir()
    shutil.copy(front, alone)
    done = subprocess.run([alone, "summary", LOGS / "parallel-ghc9103" / "run.eventlog"], stdout=subprocess.PIPE, check=True)
    assert b"parallel" in done.stdout
    done = subprocess.run([alone, "report", LOGS / "parallel-ghc9103" / "run.eventlog", "--format", "json", "-o", "-"],
                          stdout=subprocess.PIPE, check=True)
    assert json.loads(done.stdout)["meta"]["logs"]
    done = subprocess.run([alone, "query", "SELECT program FROM runs", LOGS / "parallel-ghc9103" / "run.eventlog", "-f", "csv"], stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"program\nparallel-thr\n"
    done = subprocess.run([alone, "status"], stderr=subprocess.PIPE, text=True, env={**env, "PATH": "/usr/bin:/bin"})
    assert done.returncode == 2 and "heapwatch-live" in done.stderr and "install" in done.stderr


def complete(installed, words, directory):
    """What bash offers for the last word."""
    script = f"""
        . {installed}/share/bash-completion/completions/heapwatch
        COMP_WORDS=({' '.join(repr(str(w)) for w in words)}); COMP_CWORD={len(words) - 1}
        _heapwatch {str(words[0])!r} {words[-1]!r} {str(words[-2])!r}
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, text=True, check=True,
                          cwd=directory, env={**os.environ, "XDG_RUNTIME_DIR": str(directory)})
    offered = done.stdout.split()
    assert len(offered) == len(set(offered)), "each is offered once"
    return set(offered)


def test_pages_have_every_option(installed):
    """Man pages are filled in by the programs: no option is missing, no place is left empty."""
    for page, program in (("man1/heapwatch.1", "heapwatch"), ("man8/heapwatchd.8", "heapwatchd")):
        text = (installed / "share" / "man" / page).read_text()
        assert "INCLUDE" not in text
        commands = [[]]
        if program == "heapwatch":
            listed = subprocess.run([installed / "bin" / program, "--complete", ""], stdout=subprocess.PIPE, text=True,
                                    check=True).stdout.split("\n")
            commands = [[line.split("\t")[0]] for line in listed if line and line[0] != "-"]
            assert len(commands) > 15
        for command in commands:
            done = subprocess.run([installed / "bin" / program, *command, "--help"], stdout=subprocess.PIPE, text=True,
                                  check=True)
            assert all(len(line) <= 80 for line in done.stdout.split("\nExample")[0].split("\n")), command
            for option in re.findall(r"^  (?:-., |    )?--([a-z-]+)", done.stdout, re.M):
                assert f"Fl -{option}" in text, option
        done = subprocess.run(["groff", "-mandoc", "-Tutf8", "-ww", installed / "share" / "man" / page],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        assert not done.stderr


class Zsh:
    """An interactive zsh with the installed completion, on a terminal of its own."""

    def __init__(self, installed, directory):
        env = {**os.environ, "TERM": "dumb", "PATH": f"{installed / 'bin'}:{os.environ['PATH']}", "HOME": str(directory),
               "XDG_RUNTIME_DIR": str(directory)}
        self.terminal, theirs = os.openpty()
        self.process = subprocess.Popen(["zsh", "-f", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, env=env, cwd=directory,
                                        start_new_session=True)
        os.close(theirs)
        os.set_blocking(self.terminal, False)
        self.seen = ""
        self.type(f"fpath=({installed}/share/zsh/site-functions $fpath); autoload -U compinit; compinit -u -d {directory}/dump; "
                  "setopt NO_BEEP; print -r -- read''y\n")
        self.wait("ready")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait(self, text):
        def there():
            with contextlib.suppress(BlockingIOError):
                self.seen += os.read(self.terminal, 65536).decode(errors="replace")
            return text in self.seen
        try:
            wait_for(there, f"zsh to write {text!r}")
        except AssertionError as e:
            raise AssertionError(f"{e}; it wrote {self.seen!r}") from None

    def completes(self, begun, whole):
        """A tab after `begun` makes it `whole`."""
        self.seen = ""
        self.type(begun + "\t")
        self.wait(whole)
        self.type("\x15")   # clears the line

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)


# What is typed, and what it becomes: the only word that fits.
WORDS = [("su", "summary"), ("top --view b", "bands"), ("top --view=al", "alerts"), ("ctl history x sw", "swap"),
         ("report --sort st", "stddev"), ("completion f", "fish"), ("help doc", "doctor")]


def test_zsh_completes(installed, directory):
    (directory / "heapwatch").mkdir(mode=0o700)
    with Daemon(directory / "heapwatch", f"api-1={LOGS / 'parallel-ghc9103' / 'run.eventlog'}") as d, \
            Zsh(installed, directory) as zsh:
        d.wait_state("api-1", "ENDED")
        for begun, whole in WORDS:
            zsh.completes(f"heapwatch {begun}", whole)
        zsh.completes("heapwatch remove ap", "api-1")
        zsh.completes("heapwatch ctl silence frag", "fragmentation")
        zsh.completes("heapwatchd --conf", "--config")


def test_fish_completes(installed, directory):
    (directory / "heapwatch").mkdir(mode=0o700)
    with Daemon(directory / "heapwatch", f"api-1={LOGS / 'parallel-ghc9103' / 'run.eventlog'}") as d:
        d.wait_state("api-1", "ENDED")
        lines = [f"heapwatch {begun}" for begun, _ in WORDS] + ["heapwatch remove ap", "heapwatch ctl silence frag",
                                                              "heapwatchd --conf"]
        script = installed / "share" / "fish" / "vendor_completions.d" / "heapwatch.fish"
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source {script}; for l in $argv; complete -C $l; echo; end", *lines],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=DEADLINE_S, check=True,
            env={**os.environ, "PATH": f"{installed / 'bin'}:{os.environ['PATH']}", "HOME": str(directory),
                 "XDG_RUNTIME_DIR": str(directory)})
        offered = [{line.split("\t")[0].split("=")[-1] for line in part.splitlines()} for part in done.stdout.split("\n\n")]
        assert offered[:len(lines)] == [{whole} for _, whole in WORDS] + [{"api-1"}, {"fragmentation"}, {"--config"}], \
            done.stderr


def test_bash_completes_commands_options_and_targets(installed, directory):
    client, daemon = installed / "bin" / "heapwatch", installed / "bin" / "heapwatchd"
    assert {"run", "top", "check", "--help"} <= complete(installed, [client, ""], directory)
    assert complete(installed, [client, "su"], directory) == {"summary"}
    assert complete(installed, [client, "report", "--sort", "st"], directory) == {"stddev"}
    assert complete(installed, [client, "report", "--sort", "=", "st"], directory) == {"stddev"}
    assert {"memory", "bands"} <= complete(installed, [client, "top", "--view", ""], directory)
    assert complete(installed, [client, "ctl", "history", "x", "sw"], directory) == {"swap"}
    assert "--close" in complete(installed, [client, "run", "--c"], directory)
    assert {"silence", "silences"} <= complete(installed, [client, "ctl", "sil"], directory)
    assert "--config" in complete(installed, [daemon, "--c"], directory)
    assert complete(installed, [client, "remove", ""], directory) == set(), "no daemon, nothing to offer"
    (directory / "heapwatch").mkdir(mode=0o700)
    with Daemon(directory / "heapwatch", f"api-1={LOGS / 'parallel-ghc9103' / 'run.eventlog'}"):
        wait_for(lambda: complete(installed, [client, "remove", ""], directory) == {"api-1"}, "the target's name")
        assert {"leak", "crashed", "restart-loop"} <= complete(installed, [client, "ctl", "silence", ""], directory), "all rules, firing or not"


def test_what_services_and_other_languages_need(installed):
    for name, starts in (("heapwatchd", "heapwatchd --config /etc/heapwatch/heapwatchd.yaml"),
                         ("heapwatch-export", "heapwatch export --config /etc/heapwatch/export.yaml"),
                         ("heapwatch-archive", "heapwatch archive --db /var/lib/heapwatch/archive.db")):
        unit = (installed / "lib" / "systemd" / "system" / f"{name}.service").read_text()
        assert f"ExecStart=/opt/hw/bin/{starts}" in unit and "@PREFIX" not in unit
    assert (installed / "share" / "heapwatch" / "heapwatch.proto").read_bytes() == (ROOT / "proto" / "wire" / "heapwatch.proto").read_bytes()


def pkg_config(installed, *what):
    env = {**os.environ, "PKG_CONFIG_PATH": str(installed / "lib" / "pkgconfig"),
           "PKG_CONFIG_SYSROOT_DIR": str(installed.parents[1])}
    return subprocess.run(["pkg-config", *what, "heapwatch"], env=env, stdout=subprocess.PIPE,
                          check=True).stdout.decode().split()


@pytest.mark.parametrize("compiler", [["gcc"], ["g++", "-x", "c++"]], ids=["c", "c++"])
@pytest.mark.parametrize("linked", ["static", "shared"])
def test_no_name_of_the_library_is_in_the_way(installed, directory, compiler, linked):
    source, program = directory / "names.c", directory / "names"
    source.write_text(NAMES)
    libs = pkg_config(installed, "--libs")
    private = set(pkg_config(installed, "--libs", "--static")) & {"-lm"}
    if linked == "static":      # only ours: Debian's static libzmq needs a library that it does not come with
        libs = [installed / "lib" / "libheapwatch.a", "-lzmq", "-lprotobuf-c", *private]
    subprocess.run([*compiler, "-Wall", "-Werror", *pkg_config(installed, "--cflags"), source, "-x", "none", "-o", program,
                    *libs], check=True)
    subprocess.run([program], env={**os.environ, "LD_LIBRARY_PATH": str(installed / "lib")}, check=True)


def test_only_public_names_are_global(installed):
    for library, table in (("libheapwatch.a", "--extern-only"), ("libheapwatch.so", "--dynamic")):
        done = subprocess.run(["nm", table, "--defined-only", "--format=posix", installed / "lib" / library],
                              stdout=subprocess.PIPE, text=True, check=True)
        names = {line.split()[0] for line in done.stdout.splitlines() if not line.endswith(":")}
        assert "hw_eventlog_new" in names
        assert {n for n in names if not re.match("hw_[a-z]", n)} == set(), library


def test_programs_export_nothing(installed):
    """Else one of our names takes the place of one that a library uses inside: of libkrb5, or of libc."""
    for name in ("heapwatch", "heapwatchd"):
        done = subprocess.run(["nm", "--dynamic", "--defined-only", "--format=posix", installed / "bin" / name],
                              stdout=subprocess.PIPE, text=True, check=True)
        # What comes from the C library itself has a version.
        assert [line for line in done.stdout.splitlines() if "@" not in line.split()[0]] == []


def test_a_program_of_ones_own(installed, directory):
    source, program = directory / "follow.c", directory / "follow"
    source.write_text(FOLLOW)
    flags = pkg_config(installed, "--cflags", "--libs")
    subprocess.run(["gcc", "-Wall", "-Werror", source, "-o", program, *flags], check=True)
    with Daemon(directory, f"t={LOGS / 'leaky-hT-ghc9103' / 'run.eventlog'}") as d:
        d.wait_state("t", "ENDED")
        done = subprocess.run([program, d.publish], stdout=subprocess.PIPE, timeout=DEADLINE_S,
                              env={**os.environ, "LD_LIBRARY_PATH": str(installed / "lib")})
        assert done.returncode == 0
        name, live = done.stdout.split()
        assert name == b"t" and int(live) > 0


VERSION = (ROOT / "VERSION").read_text().strip()


def dist(folder):
    """The tarball of the last commit, with the browser page of this build."""
    if not (ROOT / ".git").exists():
        pytest.skip("a release is packed from a git tree")
    page = BUILD / "page" / "out"
    if not (page / "page.html").stat().st_size:
        pytest.skip("a release has the browser page, which was not built here")
    if subprocess.run(["git", "status", "--porcelain", "client/page"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout:
        pytest.skip("a release is packed from a commit, and client/page has changes that are not in one")
    signatures = folder / "signatures"
    signatures.mkdir()
    (signatures / "ghc-1.2.3.hwsig").write_text("of a GHC")
    tarball = folder / f"heapwatch-{VERSION}.tar.gz"
    subprocess.run([ROOT / "scripts" / "packaging" / "dist", page, signatures, tarball], check=True)
    return tarball


def test_version_tells_what_a_report_of_a_bug_needs(installed):
    libraries = {"heapwatchd": ["libevent", "libzmq", "protobuf-c", "zstd"], "heapwatch": ["libzmq", "curl", "SQLite"],
                 "heapwatch-inspect": ["libc"]}
    for name, some in libraries.items():
        # The front alone has not loaded the libraries that its release depends on.
        words = ["version"] if name == "heapwatch" else ["--version"]
        done = subprocess.run([installed / "bin" / name, *words], stdout=subprocess.PIPE, text=True, check=True)
        first, *rest = done.stdout.splitlines()
        assert first == f"{name} {VERSION}"
        details = dict(line.split(": ", 1) for line in rest)
        assert list(details) == ["commit"] * (ROOT / ".git").exists() + ["libraries", "GHC"]
        found = dict(library.split(" ") for library in details["libraries"].split(", "))
        assert set(some) <= set(found) and all(re.match(r"\d+\.\d", release) for release in found.values()), found
        assert re.search(r"\d+\.\d+", details["GHC"])
        if "commit" in details:
            assert re.match(r"[0-9a-f]{12}(, changed)?$", details["commit"])


@pytest.mark.long
@pytest.mark.skipif(not LONG, reason="has a long form alone: HEAPWATCH_LONG=1")
def test_the_tarball_is_reproducible_and_has_the_page(tmp_path, monkeypatch):
    """Also with another umask, another time zone and another owner's name: its bytes are those of the commit."""
    (tmp_path / "other").mkdir()
    first = dist(tmp_path)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    before = os.umask(0o077)
    try:
        second = dist(tmp_path / "other")
    finally:
        os.umask(before)
    assert first.read_bytes() == second.read_bytes()
    subprocess.run(["tar", "xf", first], cwd=tmp_path, check=True)
    tree = tmp_path / f"heapwatch-{VERSION}"
    without = {"PATH": str(tmp_path / "programs")}       # no npm
    (tmp_path / "programs").mkdir()
    for name in ("sh", "env", "dirname", "mkdir", "rm", "cp", "cmp", "touch", "find", "sort", "xargs", "sha256sum", "tar"):
        (tmp_path / "programs" / name).symlink_to(shutil.which(name))
    for expected in ((BUILD / "page" / "out" / "page.html").read_bytes(), b""):
        done = subprocess.run([shutil.which("sh"), "scripts/page", "1", "client/page", tmp_path / "page"], cwd=tree, env=without,
                              stderr=subprocess.PIPE, text=True, check=True)
        assert (tmp_path / "page" / "out" / "page.html").read_bytes() == expected
        assert ("npm is missing" in done.stderr) == (not expected)
        # A page whose sources were changed is not the page of those sources: npm is needed.
        with open(tree / "client" / "page" / "src" / "main.ts", "a", encoding="utf-8") as f:
            f.write("// changed\n")


@pytest.mark.long
@pytest.mark.skipif(not LONG, reason="has a long form alone: HEAPWATCH_LONG=1")
def test_the_tarball_builds_and_installs(tmp_path):
    """What `make dist` packs is all that `make install` needs, without git and without this tree."""
    if WATCHED:
        pytest.skip("a release is built without a sanitizer")
    if not (ROOT / ".git").exists():
        pytest.skip("a release is packed from a git tree")
    build = {k: v for k, v in os.environ.items() if k not in ("BUILD", "MODE", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    tarball = dist(tmp_path)
    subprocess.run(["tar", "xf", tarball], cwd=tmp_path, check=True)
    tree = tmp_path / tarball.name[:-len(".tar.gz")]
    assert not (tree / "build").exists()
    subprocess.run(["make", f"-j{os.cpu_count()}", "WEB=0", "CFLAGS=-O0", "install", f"PREFIX={tmp_path}/p"], cwd=tree, env=build,
                   check=True, stdout=subprocess.DEVNULL)
    version = tree.name.split("-")[1]
    for name in ("heapwatch", "heapwatchd"):
        done = subprocess.run([tmp_path / "p" / "bin" / name, "--version"], stdout=subprocess.PIPE, check=True)
        assert done.stdout.decode().splitlines()[0] == f"{name} {version}"
    assert (tmp_path / "p" / "share" / "heapwatch" / "signatures" / "ghc-1.2.3.hwsig").read_text() == "of a GHC"


@pytest.mark.long
@pytest.mark.skipif(not LONG, reason="has a long form alone: HEAPWATCH_LONG=1")
def test_the_image_runs_as_a_user_on_a_read_only_root(tmp_path):
    if WATCHED:
        pytest.skip("an image is made without a sanitizer")
    make_install(tmp_path / "installed", "PREFIX=/usr", "LIBDIR=/usr/lib", "AGENTDIR=/usr/lib/heapwatch")
    images = [tmp_path / "1.tar", tmp_path / "2.tar"]
    for image in images:
        subprocess.run([ROOT / "scripts" / "packaging" / "image", tmp_path / "installed", image, "heapwatch:test"], check=True)
    assert images[0].read_bytes() == images[1].read_bytes()
    with tarfile.open(images[0]) as tar:
        (manifest,) = json.load(tar.extractfile("manifest.json"))
        config, layer = (tar.extractfile(name).read() for name in (manifest["Config"], *manifest["Layers"]))
    assert manifest["RepoTags"] == ["heapwatch:test"] and manifest["Config"] == f"{hashlib.sha256(config).hexdigest()}.json"
    assert json.loads(config)["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}"] and len(layer) < 60e6
    assert json.loads(config)["config"]["User"] == "65532:65532"
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "mount", "--bind", tmp_path, tmp_path]).returncode != 0:
        pytest.skip("there is no right to mount")
    (tmp_path / "layer.tar").write_bytes(layer)
    os.chmod(tmp_path, 0o755)
    # As an emptyDir: of root, a mount, writable for all.
    done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", """
        mkdir root volume; chmod 777 volume
        tar xf layer.tar -C root
        mount --bind root root; mount --bind volume root/heapwatch; mount -o remount,bind,ro root
        in_image() { env -i PATH=/usr/bin HEAPWATCH_DIR=/heapwatch/run "$(command -v chroot)" --userspec=65532:65532 root "$@"; }
        in_image cp /usr/lib/heapwatch/libheapwatch-agent.so /heapwatch/
        in_image heapwatchd &
        until in_image heapwatch status; do sleep 0.1; done
        in_image heapwatch add api=/heapwatch/api.eventlog
        in_image heapwatch status"""], cwd=tmp_path, stdout=subprocess.PIPE, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0 and re.search(r"(?m)^api +waiting .* file:/heapwatch/api.eventlog", done.stdout), done.stdout


def test_the_manifests_name_what_there_is():
    """The image of this release, options that heapwatchd has, the documents' files."""
    version = (ROOT / "VERSION").read_text().strip()
    options = subprocess.run([BUILD / "heapwatchd", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for path in (ROOT / "docs" / "kubernetes").iterdir():
        text = path.read_text()
        assert set(re.findall(r"heapwatch:(\d\S*)", text)) <= {version}, path
        for command in re.findall(r"command: \[heapwatchd,([^]]*)\]", text):
            used = set(re.findall(r"--[a-z-]+", command))
            assert used and used <= set(re.findall(r"--[a-z-]+", options)), path
        assert f"`{path.name}`" in (ROOT / "docs" / "KUBERNETES.md").read_text(), path
