#!/bin/bash
# GHC 9.0.2: a heap census counts a byte array above 1 MiB as the whole megablocks that it lies in. Fifty arrays of 1 MiB
# are 50 MiB of live data by the collector and twice that by -hT: bands that explain 198 % of the heap. An array of
# 1,000,000 bytes is counted as it is.
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

cat > Arrays.hs <<'H'
module Main (main) where
import Control.Monad (forM)
import qualified Data.ByteString as B
import System.Environment (getArgs)
import System.Mem (performMajorGC)
import GHC.Stats
main :: IO ()
main = do
  [size] <- map read <$> getArgs
  arrays <- forM [1 .. 50] $ \k -> let a = B.replicate size k in a `seq` return a
  performMajorGC
  s <- getRTSStats
  print (gcdetails_live_bytes (gc s))
  appendFile "/dev/null" (show (sum (map B.length arrays)))
H
compile -O1 -rtsopts -package bytestring Arrays.hs
census() { # census SIZE: the largest census beside what the collector says, both of 50 arrays, as a percentage
        local live
        live=$(./Arrays "$1" +RTS -hT -i0 -T)
        awk -v live="$live" '/^BEGIN_SAMPLE/ { sum = 0 } /^END_SAMPLE/ && sum > max { max = sum }
                /\t/ { sum += $NF } END { printf "%d", 100 * max / live }' FS='\t' Arrays.hp
}
small=$(census 1000000) large=$(census 1048576)
echo "census, of live data: $small % for arrays of 1,000,000 bytes, $large % for arrays of 1 MiB"
[ "$small" -le 110 ] && [ "$large" -ge 180 ] || { echo "changed: expected about 100 % and 200 %"; exit 1; }
echo "as seen: an array of 1 MiB and its header counts as two megablocks"
