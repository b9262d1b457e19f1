#!/bin/bash
# GHC 9.0.2, ghc-compact: what does `compact value` take for a small value? Expected: about as much as the value. But
# each region begins with a block of 32 KiB (GHC.Compact asks for 31,268 bytes), and all of it is live data: 3,000
# sessions of a cache, compacted one by one to spare the collector work, are 98 MB, by the collector, by -hT and by
# compactSize. Most of that was never written: the process has 18 MB resident. So live data may be a multiple of
# resident memory, what is computed as resident less heap is below zero, and -M counts what takes no memory. All in
# one region are below 1 MB, and compactSized, which is told the size, makes 12 MB of them.
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

cat > Regions.hs <<'H'
module Main (main) where
import Control.Exception (evaluate)
import Control.Monad (forM)
import GHC.Compact
import GHC.Stats
import System.Environment (getArgs)
import System.Mem (performMajorGC)

made :: String -> IO [Compact [Int]]
made "each" = forM [1 .. 3000] (\i -> compact [i, i + 1000])
made "sized" = forM [1 .. 3000] (\i -> compactSized 256 False [i, i + 1000])
made _ = compact [0] >>= \region -> forM [1 .. 3000] (\i -> compactAdd region [i, i + 1000])

main :: IO ()
main = do
  [how] <- getArgs
  regions <- made how
  performMajorGC
  s <- getRTSStats
  status <- lines <$> readFile "/proc/self/status"
  resident <- evaluate (head [read (words l !! 1) :: Int | l <- status, take 6 l == "VmRSS:"])
  putStrLn (how ++ ": live data " ++ show (gcdetails_live_bytes (gc s) `div` 1000000) ++ " MB, resident " ++
    show (resident * 1024 `div` 1000000) ++ " MB")
  _ <- evaluate (sum (map (sum . getCompact) regions))
  pure ()
H
compile -O1 -rtsopts -package ghc-compact Regions.hs
for how in each sized one; do ./Regions $how +RTS -T; done | tee seen
awk '{ live[$1] = $4; resident[$1] = $7 }
    END { exit !(live["each:"] >= 98 && resident["each:"] < 49 && live["sized:"] < 15 && live["one:"] < 15) }' seen ||
    { echo "changed: expected 98 MB live and less than half of it resident, else less than 15 MB"; exit 1; }
echo "as seen: a small region is 32 KiB of live data, most of it not resident"
