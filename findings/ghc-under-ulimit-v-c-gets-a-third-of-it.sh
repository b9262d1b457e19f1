#!/bin/bash
# GHC 9.0.2: who gets the memory that `ulimit -v` (RLIMIT_AS, LimitAS= of a service) allows? Expected: whoever asks, until
# all is used. But the runtime reserves two thirds for its heap when it starts (osReserveHeapMemory(), rts/posix/OSMem.c),
# used or not: of 614 MB, malloc gets 198 MB with a heap of 1 MB, and no more or less with one of 300 MB. And the heap meets
# its two thirds as a wall: without -M the collector does not know of it, copies as ever, and ends with "out of memory",
# status 251, at 300 MB of live data, less than half of the limit. With -M at these two thirds, which allows nothing that
# was not allowed before, it compacts in time, and 300 MB fit. So neither growth of live data nor of C memory may be
# extrapolated to the limit, and resident memory is far below it when either fails.
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

cat > Thirds.hs <<'H'
module Main (main) where
import Foreign.Ptr (Ptr, nullPtr)
import System.Environment (getArgs)

foreign import ccall unsafe "malloc" malloc :: Int -> IO (Ptr ())

mallocs :: Int -> IO Int
mallocs n = malloc 1000000 >>= \got -> if got == nullPtr then return n else mallocs (n + 1)

main :: IO ()
main = do
  [megabytes] <- map read <$> getArgs
  let kept = replicate (megabytes * 1000000 `div` 24) 'x' -- 24 bytes each
  length kept `seq` mallocs 0 >>= print
  appendFile "/dev/null" kept
H
compile -O1 -rtsopts Thirds.hs
run() { # run MEGABYTES OPTION...: below the limit, with so much live data; says how many MB malloc gives, or its status
        echo "$* $(ulimit -v 600000; ./Thirds "$1" +RTS "${@:2}" 2> error || echo "status $?, $(cat error)")"
}
echo "MB of live data, options, MB that malloc gave before it failed:"
{ run 1; run 150; run 300 -M400000k; run 300; } | tee said
awk 'NR < 4 { if ($NF < 170 || $NF > 204) bad = 1 } NR == 4 { if (!/status 251.*out of memory/) bad = 1 }
     END { exit bad || NR != 4 }' said ||
        { echo "changed: expected 170 to 204 three times, and status 251 of 300 MB without -M"; exit 1; }
echo "as seen: a third is for C, two thirds for the heap, of which live data can fill half unless -M says so"
