#!/bin/bash
# GHC 9.0.2: once a program has had 3 million stable names at a time, some 100 MB of its resident memory stay for good,
# when all names are gone and collected and the heap is down to a few MB. The table of the names is allocated in C, is
# doubled when it is full and never shrinks. Neither live data nor the heap's size has it, so to whoever watches the
# process it is a leak of C memory in a program without C code. Names made later use the room again: it is the most that
# was ever needed, and no leak. Of 3 million stable pointers 34 MB stay.
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

cat > Names.hs <<'H'
module Main (main) where
import Control.Monad (forM, forM_, replicateM_)
import Foreign.StablePtr (freeStablePtr, newStablePtr)
import GHC.Stats
import System.Environment (getArgs)
import System.Mem (performMajorGC)
import System.Mem.StableName (hashStableName, makeStableName)

hold :: String -> Int -> IO ()
hold "values" n = forM [1 .. n] (pure . Just) >>= print . length
hold "names" n = forM [1 .. n] (makeStableName . Just) >>= \names -> print (length (filter ((>= 0) . hashStableName) names))
hold _ n = forM [1 .. n] newStablePtr >>= \made -> forM_ made freeStablePtr >> print (length made)

main :: IO ()
main = do
  [what, rounds] <- getArgs
  replicateM_ (read rounds) (hold what 3000000 >> replicateM_ 3 performMajorGC)
  s <- getRTSStats
  status <- lines <$> readFile "/proc/self/status"
  let rss = head [read (words l !! 1) | l <- status, take 6 l == "VmRSS:"] :: Int
  writeFile what (show (gcdetails_live_bytes (gc s) `div` 1000000) ++ " " ++ show (gcdetails_mem_in_use_bytes (gc s) `div` 1000000) ++ " " ++ show (rss * 1024 `div` 1000000))
H
compile -O1 -rtsopts Names.hs
measure() { # what is left of 3 million of them, made and dropped so many times
    ./Names "$1" "$2" +RTS -T --disable-delayed-os-memory-return > /dev/null
    read -r live heap rss < <(cat "$1"; echo)
    echo "$1, $2 x 3,000,000, all dropped: live data $live MB, heap $heap MB, resident $rss MB"
    [ "$live" -lt 5 ] && [ "$heap" -lt 20 ] && [ "$rss" -ge "$3" ] && [ "$rss" -lt "$4" ] ||
        { echo "changed: expected less than 5 MB live, a heap below 20 MB, and $3 to $4 MB resident"; exit 1; }
}
measure values 1 0 30
measure pointers 1 34 70
measure names 1 80 160
measure names 3 80 160
echo "as seen: the tables of stable names and pointers stay as large as they ever were"
