-- SPDX-License-Identifier: BSD-3-Clause
-- | Holds the same 64 MiB all the time, while the runtime takes more and more memory for itself: a nursery for each
-- further capability. tests/data/retention/run.eventlog is of this program.
-- usage: Retention CAPABILITIES     (ghc -threaded -rtsopts -eventlog; 40 +RTS -A4m -qg -l-ag)
module Main (main) where

import Control.Concurrent (setNumCapabilities, threadDelay)
import Control.Monad (forM_)
import Data.Array.IO (IOUArray, newArray, readArray, writeArray)
import System.Environment (getArgs)
import System.Mem (performMajorGC)

main :: IO ()
main = do
  [capabilities] <- fmap (map read) getArgs
  held <- newArray (0, 8 * 1024 * 1024 - 1) 1 :: IO (IOUArray Int Int)
  forM_ [1 .. capabilities] $ \n -> do
    setNumCapabilities n
    forM_ [1 .. 5 :: Int] $ \_ -> do
      performMajorGC
      threadDelay 90000
    writeArray held n n
  readArray held 1 >>= print
