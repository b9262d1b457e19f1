#!/bin/bash
# GHC 9.0.2: a negative status ends the program by that signal. exitWith (ExitFailure (-9)) makes it kill itself: a shell
# says "Killed", status 137, as of one that the kernel ended for want of memory, and a supervisor restarts it for that.
# `waitForProcess` returns such a status for a child that a signal ended, so that one which passes on the status of its child
# dies as the child did. From -128 on, and above 255, it is status 255.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

# GHC in a folder of its own: gcc and apt-get are the machine's.
packages="ghc=9.0.2-4 libgmp-dev=2:6.2.1+dfsg1-1.1 libgmp10=2:6.2.1+dfsg1-1.1"
apt-get -qq -o APT::Sandbox::User=root download $packages
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$PWD/root/usr/lib
rm "$lib/ghc/package.conf.d"
mv root/var/lib/ghc/package.conf.d "$lib/ghc/"
sed -i "s#/usr/lib/ghc#$lib/ghc#" "$lib"/ghc/package.conf.d/*.conf
"$lib/ghc/bin/ghc-pkg" --global-package-db "$lib/ghc/package.conf.d" recache
compile() { "$lib/ghc/bin/ghc" -B"$lib/ghc" -L"$lib/x86_64-linux-gnu" -v0 "$@"; }
"$lib/ghc/bin/ghc" -B"$lib/ghc" --version

cat > Ends.hs <<'H'
module Main (main) where
import System.Environment (getArgs)
import System.Exit
main :: IO ()
main = getArgs >>= exitWith . ExitFailure . read . head
H
compile Ends.hs
for status in -9 -15 -1 -128 255 256; do
        seen=0
        bash -c "./Ends ' $status'" > /dev/null 2>&1 || seen=$?
        echo "ExitFailure ($status): $seen"
done | tee said
cat > expected <<'T'
ExitFailure (-9): 137
ExitFailure (-15): 143
ExitFailure (-1): 129
ExitFailure (-128): 255
ExitFailure (255): 255
ExitFailure (256): 255
T
cmp -s said expected || { echo "changed: expected"; cat expected; exit 1; }
python3 - <<'P'
import subprocess
status = subprocess.run(["./Ends", " -9"]).returncode
print("as its parent sees it: signal", -status)
raise SystemExit(status != -9)
P
echo "as seen: the program kills itself by the signal of that number"
