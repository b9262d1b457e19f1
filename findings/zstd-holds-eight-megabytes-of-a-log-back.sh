#!/bin/bash
# zstd 1.5.4: `program | zstd > log.zst` packs a log while it is written. How far is the file behind? Expected: a block,
# 128 KiB at most, as gzip is behind by some tens of KiB. But zstd works with a thread of its own for compression unless
# it has --single-thread, and gives it jobs of 8 MiB (level 3; more at higher ones): until one is full, the file has
# nothing of it. A program that logs 10 kB a second is seen a quarter of an hour late by whoever reads the file as it
# grows, and what ends zstd too (SIGTERM to a service, the kernel, want of memory) takes the last quarter of an hour,
# which is what the log was for. lz4 1.9.4 holds as much back. The manual has "single-thread" save memory, no more.
# And Ctrl-C, which ends a program and its zstd together, removes the whole file if it was named by -o: for zstd
# it is an output that is not complete. With > it stays.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

apt-get -qq -o APT::Sandbox::User=root download zstd=1.5.4+dfsg2-5 libzstd1=1.5.4+dfsg2-5 lz4=1.9.4-1 liblz4-1=1.9.4-1
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH=$PWD/root/usr/lib/x86_64-linux-gnu PATH=$PWD/root/usr/bin:$PATH
zstd --version
cat > pack.py <<'P'
import os, random, signal, subprocess, sys, time

random.seed(1)
log = b"".join(b"%d %x\n" % (i, random.getrandbits(64)) for i in range(330000))[:7 << 20]

def pack(*command):
    """The packer, once it has taken the whole log, all but what a pipe holds."""
    out = open("out", "wb")
    packer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.DEVNULL)
    packer.stdin.write(log)
    packer.stdin.flush()
    return packer

def readable(tool):
    return len(subprocess.run([tool, "-dc", "out"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)

for command in ("gzip -c", "zstd -q -c --single-thread", "zstd -q -c", "lz4 -q -c"):
    packer = pack(*command.split())
    for _ in range(50):
        time.sleep(0.1)
        behind = len(log) - readable(command.split()[0])
        if behind < 1 << 20:
            break
    packer.terminate()
    packer.wait()
    lost = len(log) - readable(command.split()[0])
    print(f"{command}: of 7 MiB {'less than 1' if behind < 1 << 20 else behind >> 20} is not in the file; "
          f"ended by SIGTERM: {'the same' if lost == behind else lost}", flush=True)

for command in "zstd -q --single-thread -o log.zst", "zstd -q --single-thread -c":
    packer = pack(*command.split())
    name = "log.zst" if "-o" in command else "out"
    while not os.path.getsize(name):
        time.sleep(0.1)
    packer.send_signal(signal.SIGINT)
    packer.wait()
    print(f"{command}: after SIGINT the file is {'kept' if os.path.exists(name) else 'gone'}")
P
/usr/bin/python3 pack.py | tee seen
diff - seen <<'E' || { echo "changed: expected that zstd and lz4 hold all of 7 MiB back, and that Ctrl-C removes a file"; exit 1; }
gzip -c: of 7 MiB less than 1 is not in the file; ended by SIGTERM: the same
zstd -q -c --single-thread: of 7 MiB less than 1 is not in the file; ended by SIGTERM: the same
zstd -q -c: of 7 MiB 7 is not in the file; ended by SIGTERM: the same
lz4 -q -c: of 7 MiB 7 is not in the file; ended by SIGTERM: the same
zstd -q --single-thread -o log.zst: after SIGINT the file is gone
zstd -q --single-thread -c: after SIGINT the file is kept
E
echo "as seen: the last megabytes of a log are in nobody's file"
