#!/bin/bash
# GHC 9.0.2: a finaliser that waits keeps those behind it from running, and all that they hold. Finalisers of weak pointers
# that die in one collection run one after another in one thread. Of 1,000 that died together the 500th waits for an MVar:
# half of them do not run, and 56 MB stay, while finalisers of later collections run as ever, each batch in its own thread.
# So one lock that is not released in a finaliser is a leak of what died beside it, and no error is seen.
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

cat > Batch.hs <<'H'
module Main (main) where
import Control.Concurrent
import Control.Monad
import Data.IORef
import GHC.Stats
import System.Mem
main :: IO ()
main = do
  ran <- newIORef (0 :: Int)
  never <- newEmptyMVar :: IO (MVar ())
  let batch name blocked = do
        forM_ [1 .. 1000] $ \i -> do
          r <- newIORef [1 .. 1000 + i :: Int]
          readIORef r >>= \s -> length s `seq` return ()
          mkWeakIORef r $ do
            when (i == blocked) (takeMVar never)
            s <- readIORef r
            atomicModifyIORef' ran (\k -> (k + length (take 1 s), ()))
        report name
      report name = do
        replicateM_ 5 (performMajorGC >> threadDelay 200000)
        k <- readIORef ran
        live <- gcdetails_live_bytes . gc <$> getRTSStats
        putStrLn (name ++ " " ++ show k ++ " " ++ show live)
  batch "free" 0
  batch "blocked" (500 :: Int)
  batch "later" 0
  putMVar never ()
  report "released"
H
compile -threaded -rtsopts Batch.hs
./Batch +RTS -T -A512m > said # no collection comes between those that are to die together
echo "when, finalisers that have run, bytes of live data:"
cat said
awk '{ ran[$1] = $2; live[$1] = $3 }
     END { exit !(ran["free"] == 1000 && ran["blocked"] == 1500 && ran["later"] == 2500 && ran["released"] == 3000 &&
                  live["later"] > 20000000 && live["released"] < 1000000) }' said ||
        { echo "changed: expected 1000, 1500, 2500 and 3000, and 20 MB held until the lock is released"; exit 1; }
echo "as seen: 500 finalisers wait for one, and those of the next collection do not"
