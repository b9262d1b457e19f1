#!/bin/bash
# GHC 9.0.2: SIGQUIT does not end a Haskell program, as it ends any other. The runtime takes it as a request for a backtrace,
# prints that this build has none, and runs on. A supervisor that ends its services with SIGQUIT (nginx, php-fpm and
# containers with STOPSIGNAL SIGQUIT do) waits until its time is over; a core file, which one asks for that way, is not written.
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
import Control.Concurrent (threadDelay)
import System.IO
main :: IO ()
main = putStrLn "begun" >> hFlush stdout >> getLine >>= putStrLn . ("went on to " ++)
H
compile -threaded Sleeps.hs
mkfifo in
./Sleeps < in > out 2> err &
program=$!
exec 3> in
until grep -q begun out; do sleep 0.1; done
kill -QUIT $program
until grep -q . err || ! kill -0 $program 2> /dev/null; do sleep 0.1; done
cat err
echo "its end" >&3
exec 3>&-
status=0
wait $program || status=$?
tail -n 1 out
echo "status $status"
[ "$status" -eq 0 ] && grep -q 'went on to its end' out && grep -q 'does not support backtraces' err ||
        { echo "changed: SIGQUIT ended it, or nothing was said"; exit 1; }
echo "as seen: SIGQUIT is a request for a backtrace"
