-- SPDX-License-Identifier: BSD-3-Clause
-- | A peak of live data that is dropped at once: the runtime gives its memory back, and the kernel leaves it resident.
-- usage: Spike SECONDS      (afterwards a major collection every 200 ms; flushes every 100 ms)
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Exception (evaluate)
import Control.Monad (forM_)
import Data.IORef
import System.Environment (getArgs)
import System.Mem (performMajorGC)

import Flush (flushEvery, flushNow)

main :: IO ()
main = do
  [seconds] <- fmap (map read) getArgs
  _ <- flushEvery 100
  peak <- newIORef [1 .. seconds + 1200000 :: Int]
  readIORef peak >>= evaluate . length >>= print
  performMajorGC
  writeIORef peak []
  forM_ [1 .. seconds * 5] $ \_ -> performMajorGC >> threadDelay 200000
  _ <- flushNow
  return ()
