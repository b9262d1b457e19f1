#!/bin/bash
# weigh 0.0.16 with GHC 9.0.2: a function that makes a string of 1,000 bytes (bytestring) weighs 56 bytes, and so much for
# one of 2,000. Expected: its length and a little, as a string of 4,000 weighs 4,080 and a list its cells. Byte strings of
# less than 3 KiB stand side by side in blocks of 4 KiB that do not move, and the runtime counts such a block, as
# allocated and as live data, not before it takes the next one: three strings of 1,000 weigh some 4,450 bytes, five of
# them 4,740. A function whose result is a short string or a key is said to cost nothing, and a change that doubles it to be
# free, or to cost 4 KiB. Of a hundred strings at once the sum is right.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

# GHC and weigh in a folder of their own: gcc and apt-get are the machine's.
packages="ghc=9.0.2-4 libgmp-dev=2:6.2.1+dfsg1-1.1 libgmp10=2:6.2.1+dfsg1-1.1 libghc-weigh-dev=0.0.16-2+b2
        libghc-split-dev=0.2.3.5-1 libghc-temporary-dev=1.3-3+b2 libghc-random-dev=1.2.1.1-2+b3 libghc-splitmix-dev=0.1.0.4-1+b3"
apt-get -qq -o APT::Sandbox::User=root download $packages
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$PWD/root/usr/lib
rm "$lib/ghc/package.conf.d"
mv root/var/lib/ghc/package.conf.d "$lib/ghc/"
sed -i "s#/usr/lib/ghc#$lib/ghc#; s#/usr/lib/haskell-packages#$lib/haskell-packages#" "$lib"/ghc/package.conf.d/*.conf
"$lib/ghc/bin/ghc-pkg" --global-package-db "$lib/ghc/package.conf.d" recache
"$lib/ghc/bin/ghc" -B"$lib/ghc" --version

cat > Strings.hs <<'H'
module Main (main) where
import qualified Data.ByteString as B
import Weigh

main :: IO ()
main = mainWith $ do
  setColumns [Case, Allocated, Live]
  func "1000" (`B.replicate` 7) 1000
  func "2000" (`B.replicate` 7) 2000
  func "4000" (`B.replicate` 7) 4000
  func "3x1000" (\n -> [B.replicate (n + i) 7 | i <- [1 .. 3]]) 1000
  func "5x1000" (\n -> [B.replicate (n + i) 7 | i <- [1 .. 5]]) 1000
  func "100x1000" (\n -> [B.replicate (n + i) 7 | i <- [1 .. 100]]) 1000
H
"$lib/ghc/bin/ghc" -B"$lib/ghc" -L"$lib/x86_64-linux-gnu" -v0 -O1 Strings.hs
./Strings > weights
cat weights
weight() { sed -n "s/^$1 *\([0-9,]*\) .*/\1/p" weights | tr -d ,; }
[ "$(weight 1000)" -lt 200 ] && [ "$(weight 2000)" = "$(weight 1000)" ] && [ "$(weight 4000)" -ge 4000 ] &&
        [ "$(weight 3x1000)" -gt 4000 ] && [ "$(weight 5x1000)" -lt 5000 ] && [ "$(weight 100x1000)" -gt 100000 ] ||
        { echo "changed: expected weights below 200, as before, from 4000, above 4000, below 5000, above 100000"; exit 1; }
echo "as seen: a string of a kilobyte weighs $(weight 1000) bytes"
