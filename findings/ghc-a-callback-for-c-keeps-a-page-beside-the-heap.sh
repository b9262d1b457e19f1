#!/bin/bash
# GHC 9.0.2: a callback for C (foreign import "wrapper") that is never freed keeps 4 KiB: some instructions in a page of
# their own, from outside the heap. It is known that freeHaskellFunPtr must be called; what a forgotten one takes is not
# small, and no number of the runtime has it: after 20,000 of them live data is below 1 MiB, the heap has 2 MiB, -M is
# far away, and RSS has risen by 80 MiB. One a request in a server that gives C a callback is a leak for which heap
# profiles have nothing.
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

cat > Callbacks.hs <<'H'
module Main (main) where
import Control.Monad (replicateM_)
import Foreign.Ptr (FunPtr, freeHaskellFunPtr)
import GHC.Stats
import System.Environment (getArgs)
import System.Mem (performMajorGC)

foreign import ccall "wrapper" callback :: (Int -> IO Int) -> IO (FunPtr (Int -> IO Int))

main :: IO ()
main = do
  [what] <- getArgs
  replicateM_ 20000 (callback (return . (+ 1)) >>= if what == "freed" then freeHaskellFunPtr else const (return ()))
  performMajorGC
  now <- gc <$> getRTSStats
  resident <- lines <$> readFile "/proc/self/status"
  putStrLn (unwords [ show (gcdetails_live_bytes now `div` 1024), show (gcdetails_mem_in_use_bytes now `div` 1024)
                    , head [word | ["VmRSS:", word, "kB"] <- map words resident] ])
H
compile -O1 -rtsopts Callbacks.hs
read -r freed_live freed_heap freed_rss <<< "$(./Callbacks freed +RTS -T)"
read -r kept_live kept_heap kept_rss <<< "$(./Callbacks kept +RTS -T)"
echo "KiB of live data, heap and RSS: $freed_live, $freed_heap, $freed_rss when freed; $kept_live, $kept_heap, $kept_rss when not"
echo "bytes a callback: $(((kept_rss - freed_rss) * 1024 / 20000))"
[ "$kept_live" -lt 1024 ] && [ "$kept_heap" -le "$((freed_heap + 1024))" ] && [ "$((kept_rss - freed_rss))" -gt 70000 ] &&
        [ "$((kept_rss - freed_rss))" -lt 90000 ] || { echo "changed: expected a heap as before, and 70,000 to 90,000 KiB more RSS"; exit 1; }
echo "as seen: 4 KiB each, and none of it in the heap"
