#!/bin/bash
# GHC 9.0.2 with its text 1.2.5.0: how much memory does `T.toUpper t` take? Expected: as much as t, two bytes a
# character. But one character may become three in another case, so the functions that change it (toUpper, toLower,
# toCaseFold) allocate for that, and keep the array as it is: names of headers, keys and tags that were brought to one
# case, as maps do that ignore it, take three times what they had. T.copy gives the rest back; its documentation names
# slices of large texts alone. T.map and T.filter keep no more than they need. A census says ARR_WORDS of both, and
# the length of a text says nothing of what it holds.
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

cat > Case.hs <<'H'
module Main (main) where
import Control.Exception (evaluate)
import Control.Monad (forM)
import Data.Char (toUpper)
import qualified Data.Text as T
import GHC.Stats
import System.Environment (getArgs)
import System.Mem (performMajorGC)

by :: String -> T.Text -> T.Text
by "map" = T.map toUpper
by "filter" = T.filter (/= ' ')
by "toUpper" = T.toUpper
by "toLower" = T.toLower
by "toCaseFold" = T.toCaseFold
by _ = T.copy . T.toUpper

main :: IO ()
main = do
  [how] <- getArgs
  texts <- forM [1 .. 1000 :: Int] $ \i -> evaluate (by how (T.replicate 1000 (T.pack ("key-" ++ show (i + 1000)))))
  performMajorGC
  s <- getRTSStats
  let characters = sum (map T.length texts)
  putStrLn (how ++ ": " ++ show (fromIntegral (gcdetails_live_bytes (gc s)) `div` characters) ++ " bytes a character")
H
compile -O1 -rtsopts -package text Case.hs
for how in map filter toUpper toLower toCaseFold copy; do ./Case $how +RTS -T; done | tee seen
sed 's/[^0-9]//g' seen | xargs | diff - <(echo 2 2 6 6 6 2) ||
    { echo "changed: expected 2 bytes, and 6 after a change of case"; exit 1; }
echo "as seen: a text that was brought to another case keeps three times its room"
