#!/bin/bash
# GHC 9.0.2: what is "total time" at the head of a .prof file? Expected: the time of the program but for its collections,
# as it is with one capability. It is ticks divided by the number of capabilities at the end, and a capability that had
# nothing to do counts for the second number, not for the first: what computes on one of four has taken a quarter of its
# time. With five and more it is anything: the product of that number and 1,000,000,000 is computed in 32 bits
# (rts/ProfilerReport.c), so that with 13 a computation of 3 s took 26 s, and with 8 as long as with 4. total_time of
# -pj has idle ticks in it, and is right with four; with 13 it is 5 minutes. Ticks and shares are right. So it compares
# neither with a clock nor between settings: who needs seconds takes ticks and -V, or what +RTS -s says.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

# GHC in a folder of its own: gcc and apt-get are the machine's.
packages="ghc=9.0.2-4 ghc-prof=9.0.2-4 libgmp-dev=2:6.2.1+dfsg1-1.1 libgmp10=2:6.2.1+dfsg1-1.1"
# shellcheck disable=SC2086
apt-get -qq -o APT::Sandbox::User=root download $packages
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$PWD/root/usr/lib
rm "$lib/ghc/package.conf.d"
mv root/var/lib/ghc/package.conf.d "$lib/ghc/"
sed -i "s#/usr/lib/ghc#$lib/ghc#" "$lib"/ghc/package.conf.d/*.conf
"$lib/ghc/bin/ghc-pkg" --global-package-db "$lib/ghc/package.conf.d" recache
compile() { "$lib/ghc/bin/ghc" -B"$lib/ghc" -L"$lib/x86_64-linux-gnu" -v0 "$@"; }
"$lib/ghc/bin/ghc" -B"$lib/ghc" --version

cat > Work.hs <<'H'
module Main (main) where

work :: Int -> Int
work n = go n 0
  where
    go 0 total = total
    go k total = go (k - 1) (total + k `mod` 7)

main :: IO ()
main = print (work 400000000)
H
compile -O1 -prof -fprof-auto -threaded -rtsopts Work.hs
cat > share.py <<'P'
import json, re, sys

def ticks(node, ids):
    return (node["id"] in ids) * node["ticks"] + sum(ticks(child, ids) for child in node["children"])

text = open("Work.prof").read()
if text.startswith("{"):
    profile = json.loads(text)
    ids = [c["id"] for c in profile["cost_centres"] if c["label"].startswith("work")]
    total, worked = profile["total_time"], ticks(profile["profile"], ids) / 1000
else:
    total, count = re.search(r"total time += +([0-9.]+) secs +\((\d+) ticks @ 1000 us", text).groups()
    share = sum(float(s) for s in re.findall(r"^work\S* +Main +\S+ +([0-9.]+)", text.split("individual")[0], re.M))
    total, worked = float(total), int(count) / 1000 * share / 100
print(f"{sys.argv[1]}: {worked:.2f} s in work, total time {total:.2f} s", file=sys.stderr)
print(f"{sys.argv[1]}: total time is {float(f'{total / worked:.2g}'):g} of that in work")
P
export LC_ALL=C
for options in "-p -N1" "-p -N4" "-p -N8" "-p -N13" "-pj -N4" "-pj -N13"; do
        # shellcheck disable=SC2086
        ./Work +RTS -V0.001 $options > out
        python3 share.py "$options"
done > seen
cat seen
diff - seen <<'E' || { echo "changed: expected a quarter with four capabilities, and anything with more"; exit 1; }
-p -N1: total time is 1 of that in work
-p -N4: total time is 0.25 of that in work
-p -N8: total time is 0.27 of that in work
-p -N13: total time is 8.7 of that in work
-pj -N4: total time is 1 of that in work
-pj -N13: total time is 110 of that in work
E
echo "as seen: the total time depends on what did not work"
