#!/bin/bash
# GHC 9.0.2: "-i0.1" is not a census each tenth of a second. The interval counts the time in which Haskell code runs, and
# the times in the .hp file are CPU seconds of the mutator. A service that sleeps most of the time gets a census each few
# seconds, and its whole minute is a second wide in the picture of hp2ps. The users' guide calls it an interval in seconds.
#
# A program wakes 60 times, works for some milliseconds and sleeps for 50 ms: 3 s by the clock. Asked for: 30 censuses.
# Seen: none to 4, and a file that ends "at" 0.06 to 0.3 s.
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

cat > Service.hs <<'H'
module Main (main) where
import Control.Concurrent (threadDelay)
import Control.Exception (evaluate)
import Control.Monad (forM_)
import qualified Data.Map.Strict as M
main :: IO ()
main = forM_ [1 .. 60 :: Int] $ \k -> do
  _ <- evaluate (M.size (M.fromList [(i * 7919 `mod` 10007, i) | i <- [k .. k + 2000]]))
  threadDelay 50000
H
compile -O1 -threaded -rtsopts Service.hs
from=$(date +%s%N)
./Service +RTS -hT -i0.1
elapsed_ms=$((($(date +%s%N) - from) / 1000000))
asked=$((elapsed_ms / 100))
censuses=$(awk '/^BEGIN_SAMPLE/ { n = 0 } !/^[A-Z]*_SAMPLE/ { n++ } /^END_SAMPLE/ && n > 5 { c++ } END { print c + 0 }' Service.hp)
last_ms=$(awk '/^END_SAMPLE/ { t = $2 } END { printf "%d", t * 1000 }' Service.hp)
echo "ran for $elapsed_ms ms: $asked censuses asked for, $censuses taken, the last time in the .hp file is $last_ms ms"
[ "$elapsed_ms" -ge 3000 ] && [ $((censuses * 3)) -lt "$asked" ] && [ $((last_ms * 3)) -lt "$elapsed_ms" ] ||
        { echo "changed: the interval counts other time than that of the mutator"; exit 1; }
echo "as seen: the interval, and the times of the .hp file, are mutator time"
