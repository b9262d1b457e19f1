#!/bin/bash
# GHC 9.0.2, -threaded: a program goes from 1 capability to 8 for a while, and back: does its memory come back? Expected:
# yes, allocation areas are the collector's own, and empty after each collection. But setNumCapabilities 1 only disables
# seven of the eight (rts/Schedule.c), their nurseries remain allocated, and so remain 8 times -A, resident where they were
# ever used, through any number of major collections, with next to no live data. -A32m: 256 MiB. The one capability that is
# left goes on to use all of them: with chunked nurseries (-n, the default from -A16m on) it takes chunks until there are
# none, so that it collects an eighth as often as before, and what dies waits as much longer. getNumCapabilities and the
# eventlog's CAP_DISABLE say 1.
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

cat > Off.hs <<'H'
module Main (main) where
import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import Data.List (foldl')
import GHC.Stats
import System.Mem (performMajorGC)

-- some 2 GB of garbage, on all capabilities alike
work :: IO ()
work = do
  n <- getNumCapabilities
  done <- newEmptyMVar
  forM_ [0 .. n - 1] $ \i -> forkOn i $ do
    _ <- evaluate (foldl' (\s x -> s + length (show x)) 0 [i .. i + 4000000 `div` n])
    putMVar done ()
  replicateM_ n (takeMVar done)

report :: IO ()
report = do
  before <- getRTSStats
  work
  after <- getRTSStats
  replicateM_ 3 performMajorGC
  s <- gc <$> getRTSStats
  n <- getNumCapabilities
  status <- lines <$> readFile "/proc/self/status"
  let rss = head [read (words l !! 1) `div` 1024 | l <- status, take 6 l == "VmRSS:"] :: Int
      each = (allocated_bytes after - allocated_bytes before) `div` fromIntegral (gcs after - gcs before) `div` 1048576
      mebibytes bytes = show (bytes s `div` 1048576)
  putStrLn (unwords [show n, mebibytes gcdetails_live_bytes, mebibytes gcdetails_mem_in_use_bytes, show rss, show each])

main :: IO ()
main = do
  report
  setNumCapabilities 8
  report
  setNumCapabilities 1
  report
H
compile -O1 -threaded -rtsopts Off.hs
./Off +RTS -T -A32m --disable-delayed-os-memory-return > said
echo "capabilities; MiB of live data, of the heap, resident, and allocated from one collection to the next:"
cat said
awk '{ live[NR] = $2; heap[NR] = $3; rss[NR] = $4; each[NR] = $5 }
     END { exit !(heap[1] < 50 && each[1] < 40 && live[3] < 5 && heap[3] > 250 && rss[3] > 200 && each[3] > 150) }' said ||
        { echo "changed: expected 32 MiB before, and 256 MiB after, in the heap, resident, and between two collections"; exit 1; }
echo "as seen: after it is back at 1 capability, it has the nurseries of 8"
