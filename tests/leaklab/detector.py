"""A detector of leaks: a program that reads series and writes what it says of them, a line each."""
import shlex
import subprocess
import threading


def run_detector(cmd, items, parse):
    """Feeds (id, text) to one process of the detector; yields (id, timeline) of the lines that parse() reads."""
    p = subprocess.Popen(shlex.split(cmd), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1 << 20)
    names = []

    def feed():
        try:
            for ident, body in items:
                names.append(ident)
                p.stdin.write(body)
                p.stdin.flush()
            p.stdin.close()
        except BrokenPipeError:
            pass

    th = threading.Thread(target=feed, daemon=True)
    th.start()
    k, rows = 0, []
    for line in p.stdout:
        if line.startswith("E"):
            yield names[k], rows
            k, rows = k + 1, []
        elif not line.startswith("S"):
            rows.append(parse(line))
    th.join()
    rc = p.wait()
    if rc or k != len(names):
        raise SystemExit(f"detector ended with status {rc} after {k} of {len(names)} series")
