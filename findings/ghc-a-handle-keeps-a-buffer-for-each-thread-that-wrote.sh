#!/bin/bash
# GHC 9.0.2: what many threads print at once stays in memory. A thread that finds no spare buffer at a Handle allocates
# one of 8 KiB and gives it to the Handle when it has written; nothing ever takes one away. After 5,000 threads have
# written a line each to stdout and have ended, 40 MB of live data are buffers that stdout holds, after any number of
# major collections, for as long as the program runs. Seen with 9.10.3, too.
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

cat > Writers.hs <<'H'
module Main (main) where
import Control.Concurrent
import Control.Monad (forM_, replicateM_)
import GHC.Stats
import System.Environment (getArgs)
import System.IO
import System.Mem (performMajorGC)
main :: IO ()
main = do
  [threads] <- map read <$> getArgs
  hSetBuffering stdout LineBuffering
  done <- newEmptyMVar
  forM_ [1 .. threads] $ \i -> forkIO (putStrLn ("line " ++ show (i :: Int)) >> putMVar done ())
  replicateM_ threads (takeMVar done)
  replicateM_ 3 performMajorGC
  gcdetails_live_bytes . gc <$> getRTSStats >>= hPrint stderr
H
compile -O1 -threaded -rtsopts Writers.hs
./Writers 1 +RTS -T 2> one > lines
./Writers 5000 +RTS -T 2> many > lines
echo "live data after 1 thread has written a line: $(cat one) bytes"
echo "live data after 5,000 threads have, and are gone: $(cat many) bytes"
[ "$(cat one)" -lt 200000 ] && [ "$(cat many)" -gt 20000000 ] || { echo "changed: expected below 0.2 MB, and above 20 MB"; exit 1; }
echo "as seen: stdout keeps a buffer of 8 KiB for each thread that wrote"
