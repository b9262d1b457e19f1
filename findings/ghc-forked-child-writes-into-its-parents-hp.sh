#!/bin/bash
# GHC 9.0.2: a child made by forkProcess goes on with the heap profile of its parent: both write into one .hp file, by
# one file offset, each with its own clock. hp2ps refuses the result. The eventlog, by contrast, gets a file for the child
# (PROGRAM.PID.eventlog), so one would expect PROGRAM.PID.hp.
#
# Seen: one .hp file, whose times go back several times, and "samples out of sequence" of hp2ps.
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

cat > Forks.hs <<'H'
module Main (main) where
import Control.Exception (evaluate)
import Control.Monad (forM_, void)
import qualified Data.Map.Strict as M
import System.Posix.Process (forkProcess, getProcessStatus)
work :: IO ()
work = forM_ [1 .. 120 :: Int] $ \k ->
  evaluate (M.size (M.fromList [(i * 7919 `mod` 10007, i) | i <- [k .. k + 5000]]))
main :: IO ()
main = do
  work
  child <- forkProcess work
  work
  void (getProcessStatus True False child)
H
compile -O1 -threaded -rtsopts -eventlog -package unix Forks.hs
./Forks +RTS -hT -i0.02 -l
echo "heap profiles: $(echo *.hp); eventlogs: $(echo *.eventlog)"
[ "$(echo *.hp)" = Forks.hp ] && [ "$(ls ./*.eventlog | wc -l)" -eq 2 ] || { echo "changed: the files"; exit 1; }
back=$(awk '/^BEGIN_SAMPLE/ { if ($2 + 0.02 < last) n++; last = $2 } END { print n + 0 }' Forks.hp)
echo "times in the .hp file go back by more than 20 ms $back times"
[ "$back" -gt 0 ] || { echo "changed: one clock"; exit 1; }
if "$lib/ghc/bin/hp2ps" Forks.hp 2> message; then echo "changed: hp2ps takes it"; exit 1; fi
cat message
grep -q 'samples out of sequence' message || { echo "changed: another message"; exit 1; }
echo "as seen: parent and child write into one .hp file"
