#!/bin/bash
# GHC 9.0.2: what share of its time does a child of forkProcess spend in the collector? Expected: GC time by elapsed
# time, of GHC.Stats or +RTS -s, as of any program. But the child's elapsed time counts from the boot of the machine:
# when it begins, its statistics are cleared (resetChildProcessStats(), rts/Stats.c), and with them the moment from
# which they count. A child that collects all the time for a second, on a machine that is up for a week, has 600,000 s
# of mutator time and a productivity of 100 %. The times of its eventlog begin there, too. Differences between two
# readings are right. What daemonizes itself, and workers of servers that fork, are such children.
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

cat > Fork.hs <<'H'
module Main (main) where
import Control.Exception (evaluate)
import GHC.Stats
import System.Mem (performMajorGC)
import System.Posix.Process

-- | Collects all the time; then says for how long it ran, and how much of that it collected, by GHC.
busy :: String -> IO ()
busy who = do
  kept <- evaluate (let l = [1 .. 500000 :: Int] in sum l `seq` l)
  mapM_ (const performMajorGC) [1 .. 20 :: Int]
  s <- getRTSStats
  writeFile who (unwords [show (elapsed_ns s `div` 1000000000), show (gc_elapsed_ns s * 100 `div` elapsed_ns s),
    show (length kept)] ++ "\n")

main :: IO ()
main = do
  busy "parent"
  child <- forkProcess (busy "child")
  _ <- getProcessStatus True False child
  pure ()
H
compile -O1 -rtsopts -package unix Fork.hs
./Fork +RTS -T
read -r up _ < /proc/uptime
for who in parent child; do
    read -r seconds share _ < $who
    echo "$who: $seconds s, $share % of it in the collector; the machine is up for ${up%.*} s" | tee -a seen
    echo "$seconds $share" >> numbers
done
awk -v up="${up%.*}" 'NR == 1 { parent = $1 < 60 && $2 > 30 } NR == 2 { child = $1 > up - 60 && $1 <= up && $2 < 30 }
    END { exit !(parent && child) }' numbers ||
    { echo "changed: expected less than 60 s in the parent, and all of the machine's in the child"; exit 1; }
echo "as seen: a forked child's time began when the machine did"
