#!/bin/bash
# GHC 9.0.2: -hT needs no profiling build; is what it shows the same in one? Expected: the same bands, with profiling's
# words on top. But in a profiled program a census leaves out all threads and their stacks, of -hT as of -hc, -hd and -hy,
# unless it has -xt as well: heapCensusChain() skips TSO and STACK, where the plain runtime, which has no such flag, counts
# them. 10,000 threads that wait are 99 % of the heap by -hT, and 0 % by the same -hT of the same source, built with -prof
# to find out which cost centre made them. No word of what is missing; the collector's live data has it. (The users' guide
# tells -xt as what adds threads, not that the plain census has them.) For who rebuilds a leaking program with profiling:
# compare the sum of a census with live data first.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

# GHC in a folder of its own: gcc and apt-get are the machine's.
packages="ghc=9.0.2-4 ghc-prof=9.0.2-4 libgmp-dev=2:6.2.1+dfsg1-1.1 libgmp10=2:6.2.1+dfsg1-1.1"
apt-get -qq -o APT::Sandbox::User=root download $packages
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$PWD/root/usr/lib
rm "$lib/ghc/package.conf.d"
mv root/var/lib/ghc/package.conf.d "$lib/ghc/"
sed -i "s#/usr/lib/ghc#$lib/ghc#" "$lib"/ghc/package.conf.d/*.conf
"$lib/ghc/bin/ghc-pkg" --global-package-db "$lib/ghc/package.conf.d" recache
compile() { "$lib/ghc/bin/ghc" -B"$lib/ghc" -L"$lib/x86_64-linux-gnu" -v0 "$@"; }
"$lib/ghc/bin/ghc" -B"$lib/ghc" --version

cat > Waiting.hs <<'H'
module Main (main) where
import Control.Concurrent
import Control.Monad
import GHC.Stats
import System.Mem (performMajorGC)

deep :: MVar () -> Int -> IO Int
deep never 0 = takeMVar never >> return 0
deep never n = (+ 1) <$> deep never (n - 1)

main :: IO ()
main = do
  never <- newEmptyMVar
  replicateM_ 10000 (forkIO (void (deep never 100)))
  threadDelay 1000000
  replicateM_ 2 performMajorGC
  s <- getRTSStats
  print (gcdetails_live_bytes (gc s))
  putMVar never ()
H
compile -O1 -rtsopts Waiting.hs -outputdir plain -o Plain
compile -O1 -rtsopts -prof Waiting.hs -outputdir profiled -o Profiled
measure() { # measure PROGRAM OPTION...: live data, the largest census, what TSO and STACK have of it
        "./$1" +RTS -i0 -T "${@:2}" > live
        awk -v program="$*" -v live="$(cat live)" '/^BEGIN_SAMPLE/ { sum = threads = 0 } /\t/ { sum += $NF }
                /^(TSO|STACK)\t/ { threads += $NF } /^END_SAMPLE/ && sum >= most { most = sum; of = threads }
                END { printf "%s: live %d, census %d %%, threads %d %%\n", program, live, 100 * most / live,
                        100 * of / live }' \
                FS='\t' "$1.hp"
}
{ measure Plain -hT; measure Profiled -hT; measure Profiled -hd; measure Profiled -hT -xt; } | tee said
awk '{ threads[NR] = $(NF - 1); census[NR] = $(NF - 4) }
     END { exit !(threads[1] > 90 && threads[4] > 90 && threads[2] + threads[3] == 0 && census[2] + census[3] < 10) }' said ||
        { echo "changed: expected more than 90 % of threads without -prof and with -xt, and none of them else"; exit 1; }
echo "as seen: the profiled census explains next to nothing of the live data"
