#!/bin/bash
# GHC 9.0.2 (base 4.15.1): each System.Environment.setEnv keeps its string for good, in the memory of C, also where the
# variable has that very value already, and after unsetEnv: it hands C a string of its own (putenv) that nobody may free.
# 100,000 settings of some 100 characters are 13 MB of RSS, while live data and heap are what they were, so that heap
# profiles show no leak. Expected: what setEnv of the package unix does, by C's setenv, which copies: one value set again
# costs nothing there.
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

cat > Setting.hs <<'H'
module Main (main) where
import Control.Monad (replicateM_)
import GHC.Stats
import System.Environment (getArgs, setEnv, unsetEnv)
import System.Mem (performMajorGC)
import qualified System.Posix.Env as Unix (setEnv)

main :: IO ()
main = do
  [what] <- getArgs
  let value = replicate 100 'x'
  replicateM_ 100000 (if what == "base" then setEnv "TRACE_ID" value else Unix.setEnv "TRACE_ID" value True)
  unsetEnv "TRACE_ID"
  performMajorGC
  now <- gc <$> getRTSStats
  resident <- lines <$> readFile "/proc/self/status"
  putStrLn (unwords [ show (gcdetails_live_bytes now `div` 1024), show (gcdetails_mem_in_use_bytes now `div` 1024)
                    , head [word | ["VmRSS:", word, "kB"] <- map words resident] ])
H
compile -O1 -rtsopts -package unix Setting.hs
read -r unix_live unix_heap unix_rss <<< "$(./Setting unix +RTS -T)"
read -r base_live base_heap base_rss <<< "$(./Setting base +RTS -T)"
echo "KiB of live data, heap and RSS: $unix_live, $unix_heap, $unix_rss by unix; $base_live, $base_heap, $base_rss by base"
[ "$base_live" -lt 1024 ] && [ "$base_heap" -le "$((unix_heap + 1024))" ] && [ "$((base_rss - unix_rss))" -gt 9000 ] ||
        { echo "changed: expected a heap as by unix, and more than 9,000 KiB of RSS beside it"; exit 1; }
echo "as seen: $(((base_rss - unix_rss) * 1024 / 100000)) bytes stay for each call"
