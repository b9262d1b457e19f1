#!/bin/bash
# GHC 9.0.2: an evaluation that takes too long is stopped by System.Timeout.timeout (or killThread, or the alarm of a
# web server): does its memory come back? Expected: yes, the exception unwinds the stack, and what was on it is
# garbage. But what was under evaluation, if anything still refers to it, is left as a thunk that can go on where it
# was stopped: the stack is copied, chunk by chunk, into AP_STACK closures on the heap (raiseAsync(),
# rts/RaiseAsync.c). A recursion of a few million steps leaves 50 MB and more, for as long as a cache, a CAF or a memo
# table refers to the value; and no thread has them: in a census they are the band AP_STACK, and STACK is small.
# Evaluated later, it does go on.
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

cat > Stopped.hs <<'H'
module Main (main) where
import Control.Exception (evaluate)
import Data.IORef
import GHC.Stats
import System.Mem (performMajorGC)
import System.Timeout (timeout)

deep :: Int -> Integer
deep n = if n == 0 then 0 else 1 + deep (n - 1)
{-# NOINLINE deep #-}

live :: IO Int
live = performMajorGC >> performMajorGC >> fromIntegral . (`div` 1000000) . gcdetails_live_bytes . gc <$> getRTSStats

-- | Stops an evaluation later and later, until its stack was large; each time another one.
stop :: Int -> IO (IORef Integer)
stop after = do
  answer <- newIORef (deep (20000000 + after))
  stopped <- timeout after (readIORef answer >>= evaluate)
  kept <- live
  case stopped of
    Nothing | kept >= 50 -> pure answer
            | otherwise -> stop (after * 5 `div` 4)
    Just _ -> stop 10000

main :: IO ()
main = do
  answer <- stop 10000
  kept <- live
  value <- readIORef answer >>= evaluate
  finished <- live
  again <- stop 10000
  writeIORef again 0
  dropped <- live
  putStrLn ("live data after the timeout " ++ show kept ++ " MB, evaluated to its end " ++ show finished ++
    " MB, no longer referred to " ++ show dropped ++ " MB")
  putStrLn (if value > 20000000 && kept >= 50 && finished < 2 && dropped < 2 then "so" else "not so")
H
compile -O1 -threaded -rtsopts Stopped.hs
./Stopped +RTS -T -K3g | tee seen
grep -q '^so$' seen ||
    { echo "changed: expected 50 MB or more, and none once the value is there, or nothing refers to it"; exit 1; }
echo "as seen: what a timeout stopped keeps its stack while something refers to it"
