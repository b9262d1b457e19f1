#!/bin/bash
# GHC 9.0.2: a heap profile by type (-hy) or by closure description (-hd) needs a profiling build, -hT does not: which
# tells types apart better? Expected: -hy, which is made for it. But its bands have the type's name without the
# module: all types called State, Config, Entry or Key, of the program and of each package, are one band. -hd has the
# constructor's name alone, so that it is the same there. Only -hT says main:Users.Entry and main:Orders.Entry. What
# grows hides behind a larger one of its name, and two that grow slowly look like one that grows fast.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

# GHC in a folder of its own: gcc and apt-get are the machine's.
packages="ghc=9.0.2-4 ghc-prof=9.0.2-4 libgmp-dev=2:6.2.1+dfsg1-1.1 libgmp10=2:6.2.1+dfsg1-1.1"
apt-get -qq -o APT::Sandbox::User=root download $packages
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$PWD/root/usr/lib
rm "$lib/ghc/package.conf.d"
mv root/var/lib/ghc/package.conf.d "$lib/ghc/"
sed -i "s#/usr/lib/ghc#$lib/ghc#" "$lib"/ghc/package.conf.d/*.conf
"$lib/ghc/bin/ghc-pkg" --global-package-db "$lib/ghc/package.conf.d" recache
compile() { "$lib/ghc/bin/ghc" -B"$lib/ghc" -L"$lib/x86_64-linux-gnu" -v0 "$@"; }
"$lib/ghc/bin/ghc" -B"$lib/ghc" --version

for module in Users Orders; do
    cat > $module.hs <<H
module $module (Entry, entry, value) where
data Entry = Entry !Int !Int
entry :: Int -> Entry
entry i = Entry i (i + 1000)
{-# NOINLINE entry #-}
value :: Entry -> Int
value (Entry a b) = a + b
H
done
cat > Main.hs <<'H'
module Main (main) where
import Control.Exception (evaluate)
import Control.Monad (forM, replicateM_)
import qualified Orders
import System.Mem (performMajorGC)
import qualified Users
main :: IO ()
main = do
  users <- forM [1 .. 10000] (evaluate . Users.entry)
  orders <- forM [1 .. 40000] (evaluate . Orders.entry)
  replicateM_ 20 performMajorGC
  print (sum (map Users.value users) + sum (map Orders.value orders))
H
compile -prof -rtsopts Main.hs
for kind in y d T; do
    ./Main +RTS -h$kind -i0 > /dev/null
    awk -F '\t' -v kind=$kind '/Entry/ && $2 > most[$1] { most[$1] = $2 }
        END { for (band in most) print "-h" kind ": " band, most[band] / 24 }' Main.hp | sort
done | tee seen
diff - seen <<'E' || { echo "changed: expected one band by type, and two by -hT"; exit 1; }
-hy: Entry 50000
-hd: Entry 50000
-hT: main:Orders.Entry 40000
-hT: main:Users.Entry 10000
E
echo "as seen: a profile by type has one band for all types of one name"
