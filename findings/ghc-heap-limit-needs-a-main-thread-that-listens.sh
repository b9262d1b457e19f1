#!/bin/bash
# GHC 9.0.2: what happens to a program that reaches +RTS -M? Expected: it ends with "heap overflow", status 251, as
# the users' guide says of an exception that the main thread gets. But that exception is all: nothing else enforces
# the limit. While the main thread is in a foreign call (a GUI's main loop, a C library's event loop) or masks
# exceptions, it does not get it, and the heap goes on to twice the limit and beyond (scheduleDoGC(), rts/Schedule.c).
# On the way each collection is a major one that compacts, dozens where there were a few: what is seen is a program
# that has become very slow, not one that has ended. So live data above -M is no error of measurement, a time to the
# limit says when the slowness begins, and a limit that ends the program must be the kernel's.
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

cat > Limit.hs <<'H'
module Main (main) where
import Control.Concurrent (forkIO, threadDelay)
import Control.Exception (evaluate)
import Control.Monad (void, when)
import Foreign.C.Types (CUInt (..))
import GHC.Stats
import System.Environment (getArgs)
import System.Exit (ExitCode (..))
import System.Posix.Process (exitImmediately)

foreign import ccall safe "sleep" c_sleep :: CUInt -> IO CUInt

limit :: Num a => a
limit = 20 * 1048576

grow :: [[Int]] -> Int -> IO ()
grow held i = do
  more <- evaluate (let l = [i .. i + 5000] in sum l `seq` l)
  s <- getRTSStats
  when (gcdetails_live_bytes (gc s) > 2 * limit) $ do
    writeFile "reached" ("live data is " ++ show (gcdetails_live_bytes (gc s) * 100 `div` limit) ++
      " % of the limit, after " ++ show (major_gcs s) ++ " major collections of " ++ show (length held) ++ " lists\n")
    exitImmediately ExitSuccess
  grow (more : held) (i + 1000)

main :: IO ()
main = do
  [place] <- getArgs
  void (forkIO (grow [] 1000))
  if place == "haskell" then threadDelay 3600000000 else void (c_sleep 3600)
H
compile -O1 -threaded -rtsopts -package unix Limit.hs
for place in haskell foreign; do
    rm -f reached
    status=0
    timeout 120 ./Limit $place +RTS -M20m -T 2> error || status=$?
    echo "main thread in $place code: status $status, $(cat reached 2> /dev/null || head -1 error)" | tee -a seen
done
[ "$(grep -c 'haskell code: status 251\|foreign code: status 0, live data is 2.. %' seen)" = 2 ] ||
    { echo "changed: expected status 251, and twice the limit with status 0"; exit 1; }
echo "as seen: -M ends a program by its main thread, or not at all"
