#!/bin/bash
# pprof of Go 1.19.8: a profile whose functions have the names of Haskell's types, as of a heap by type: are they
# shown as they are in the file? Expected: yes, name is "in human-readable form" (profile.proto). But where
# system_name is the same text, as of writers that know one name only and fill in both, and has a bracket or "::",
# pprof takes it for C++ that was demangled before, and removes what is in parentheses and in angle brackets: Map
# (Int, Char) [Session] is Map  [Session]; [(Int, Char)] and [(Text, Bool)] are both [], and one row. Without a
# system_name names stay as they are; who only reads such a file has -symbolize=none.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

apt-get -qq -o APT::Sandbox::User=root download golang-1.19-go=1.19.8-2
dpkg -x golang-1.19-go*.deb root
pprof=$PWD/root/usr/lib/go-1.19/pkg/tool/linux_amd64/pprof

cat > profile.py <<'P'
import sys
names = ["[(Int, Char)]", "[(Text, Bool)]", "Map (Int, Char) [Session]", "Maybe (Int, Char)"]

def varint(n):
    return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])

def number(field, n):
    return varint(field << 3) + varint(n)

def part(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content

out = part(1, number(1, 1) + number(2, 2))      # sample_type: inuse_space in bytes
for i in range(1, len(names) + 1):
    system_name = number(3, i + 2) if sys.argv[1] == "both" else b""
    out += part(2, part(1, varint(i)) + part(2, varint(1000 * i)))      # sample: location, value
    out += part(4, number(1, i) + part(4, number(1, i)))                # location: of this function
    out += part(5, number(1, i) + number(2, i + 2) + system_name)
for text in ["", "inuse_space", "bytes"] + names:
    out += part(6, text.encode())
sys.stdout.buffer.write(out)
P
for names in one both; do
    python3 profile.py $names > $names.pb
    echo "names in the file: $names"
    HOME=$PWD PPROF_TMPDIR=$PWD "$pprof" -top -unit=B $names.pb 2> /dev/null |
        sed -n 's/^ *\([0-9]*B\).*%  /\1 /p' | tee -a seen
done
diff - seen <<'E' || { echo "changed: expected Haskell's names, and what is left of them"; exit 1; }
4000B Maybe (Int, Char)
3000B Map (Int, Char) [Session]
2000B [(Text, Bool)]
1000B [(Int, Char)]
4000B Maybe (Int, Char)
3000B Map  [Session]
3000B []
E
echo "as seen: what pprof takes for C++ loses its parentheses"
