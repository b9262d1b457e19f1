#!/bin/bash
# GHC 9.0.2: a service's loop calls itself and has HasCallStack in its type, so that an `error` in it says where it was called.
# What does it take? Expected: nothing, it is a tail call, and a call stack is for errors. But each turn puts its own call
# on the stack that it was given, and hands it on: 24 bytes a turn, for as long as the loop runs, with -O2 as with -O0.
# A loop of 10,000 turns a second leaks 20 GB a day, and no line of it keeps anything. Without the constraint it is flat.
# In a census it is the band THUNK_1_0, as of a sum that nobody evaluates, for each call is put on the stack lazily; a name
# of call stacks is not among the bands, and STACK stays small.
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

cat > Loop.hs <<'H'
module Main (main) where
import Control.Monad
import Data.IORef
import GHC.Stack
import GHC.Stats
import System.Environment (getArgs)
import System.Mem (performMajorGC)

traced :: HasCallStack => IORef Int -> IO ()
traced ref = do
  turns <- readIORef ref
  when (turns < 0) (error "turns cannot be fewer than none")
  writeIORef ref $! turns + 1
  report turns
  when (turns < 4000000) (traced ref)

plain :: IORef Int -> IO ()
plain ref = do
  turns <- readIORef ref
  when (turns < 0) (error "turns cannot be fewer than none")
  writeIORef ref $! turns + 1
  report turns
  when (turns < 4000000) (plain ref)

report :: Int -> IO ()
report turns = when (turns `mod` 2000000 == 0) $ do
  performMajorGC
  live <- gcdetails_live_bytes . gc <$> getRTSStats
  putStrLn (show turns ++ " " ++ show (live `div` 1000000))

main :: IO ()
main = do
  [loop] <- getArgs
  ref <- newIORef 0
  if loop == "traced" then traced ref else plain ref
H
for level in 0 2; do
        compile -O$level -fforce-recomp -rtsopts Loop.hs
        for loop in plain traced; do ./Loop $loop +RTS -T | sed "s/^/-O$level $loop /"; done
done | tee seen
./Loop traced +RTS -T -hT -i0 > census
echo "the largest band, and STACK, in bytes:"
awk -F'\t' 'NF == 2 && $2 > most[$1] { most[$1] = $2 } END { for (band in most) print most[band], band }' Loop.hp |
        sort -rn > bands
{ head -n 1 bands; grep ' STACK$' bands; } | tee largest
diff - seen <<'E' || { echo "changed: expected no live data, and 24 bytes a turn"; exit 1; }
-O0 plain 0 0
-O0 plain 2000000 0
-O0 plain 4000000 0
-O0 traced 0 0
-O0 traced 2000000 48
-O0 traced 4000000 96
-O2 plain 0 0
-O2 plain 2000000 0
-O2 plain 4000000 0
-O2 traced 0 0
-O2 traced 2000000 48
-O2 traced 4000000 96
E
awk 'NR == 1 { thunks = $2 == "THUNK_1_0" && $1 > 90e6 } $2 == "STACK" { small = $1 < 100000 } END { exit !(thunks && small) }' largest ||
        { echo "changed: expected above 90e6 bytes of THUNK_1_0, below 100000 of STACK"; exit 1; }
echo "as seen: a call stack in a loop is 24 bytes a turn that are never given back"
