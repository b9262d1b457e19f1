#!/bin/bash
# GHC 9.0.2: how much memory does the ThreadId of a thread cost that has ended? Expected: next to nothing, for its stack is
# gone. It is 1 KiB, and 32 KiB if the thread ever recursed some thirty frames deep: 10,000 handles of finished workers (an
# Async holds one) are 330 MB of live data. A stack begins with 1 KiB. When that is full, threadStackOverflow() moves all
# frames to a chunk of 32 KiB (-kc), which is the lowest from then on. Chunks above it go when the recursion returns, this
# one stays, and the TSO of a thread that is over (ThreadComplete) still points to it. A census has all of it in the band
# STACK, so who looks for threads that wait, or for deep recursion, finds neither: no thread is left. (Told apart: that a
# ThreadId keeps its thread, in GHC.Conc, and the two sizes, in the users' guide. What they make together is not.)
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

cat > Ended.hs <<'H'
module Main (main) where
import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (ThreadStatus (ThreadFinished), threadStatus)
import GHC.Stats
import System.Environment (getArgs)
import System.Mem (performMajorGC)

deep :: Int -> IO Int
deep 0 = return 0
deep n = (+ 1) <$> deep (n - 1)

main :: IO ()
main = do
  [frames, name] <- getArgs
  threads <- replicateM 10000 $ do
    done <- newEmptyMVar
    thread <- forkIO (deep (read frames) >>= evaluate >>= putMVar done)
    _ <- takeMVar done
    return thread
  replicateM_ 3 (yield >> performMajorGC)
  live <- gcdetails_live_bytes . gc <$> getRTSStats
  statuses <- mapM threadStatus threads
  writeFile name (unwords [frames, show (length (filter (== ThreadFinished) statuses)), show (live `div` 10000)] ++ "\n")
H
compile -O1 -rtsopts Ended.hs
./Ended 10 shallow +RTS -T
./Ended 30 deep +RTS -T
./Ended 30 chunks +RTS -T -kc2k
./Ended 30 census +RTS -T -hT -i0
echo "frames deep, threads that have ended, live bytes for each ThreadId; the third with -kc2k:"
cat shallow deep chunks
stack=$(awk -F'\t' '$1 == "STACK" && $2 > most { most = $2 } END { print most }' Ended.hp)
echo "STACK in the census: $stack bytes"
cat shallow deep chunks | awk '{ ended[NR] = $2; bytes[NR] = $3 }
     END { exit !(ended[1] == 10000 && ended[2] == 10000 && ended[3] == 10000 &&
                  bytes[1] < 1500 && bytes[2] > 32000 && bytes[2] < 34000 && bytes[3] < 3000) }' &&
        [ "$stack" -gt 320000000 ] ||
        { echo "changed: expected that all have ended, and below 1500, above 32000 and below 3000 bytes each"; exit 1; }
echo "as seen: 10,000 threads that have ended hold 330 MB, as long as somebody holds their ThreadIds"
