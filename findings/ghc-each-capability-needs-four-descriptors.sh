#!/bin/bash
# GHC 9.0.2, -threaded: each capability (+RTS -N) has an event manager, and with it four descriptors, whether it is used or
# not; eight or nine more are needed in all. With fewer, the first thing that needs a manager (threadDelay, a socket) fails
# by "user error (Pattern match failure in do expression ...)", status 1, without a word of descriptors. `ulimit -n` is 1024
# by default: -N254 does not fit in it, so that a program with -N (all processors) ends on a machine with 256 of them.
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

cat > Sleeps.hs <<'H'
module Main (main) where
import Control.Concurrent
main :: IO ()
main = threadDelay 1000 >> putStrLn "slept"
H
compile -threaded -rtsopts Sleeps.hs
run() { echo "-N$1, $2 descriptors: $( (ulimit -n "$2"; ./Sleeps +RTS "-N$1") < /dev/null 2>&1 | sed 's/ at libraries.*//')"; }
for n in 1 8 32 128; do
        run "$n" $((9 + 4 * n))
        run "$n" $((7 + 4 * n))
done | tee said
run 253 1024 | tee -a said
run 254 1024 | tee -a said
[ "$(grep -c ': slept$' said)" = 5 ] && [ "$(grep -c 'user error (Pattern match failure in do expression$' said)" = 5 ] ||
        { echo "changed"; exit 1; }
echo "as seen: four descriptors a capability, and a pattern match failure where they are missing"
