-- SPDX-License-Identifier: BSD-3-Clause
-- | Grows for ever.
-- usage: Leaky SECONDS        (markers "begin", "half", "end"; flushes every 100 ms)
module Main (main) where

import Control.Monad (forM_, when)
import Data.IORef
import Debug.Trace (traceMarkerIO)
import System.Environment (getArgs)

import Flush (flushEvery, flushNow)
import Work

main :: IO ()
main = do
  [seconds] <- fmap (map read) getArgs
  _ <- flushEvery 100
  kept <- newIORef []
  traceMarkerIO "begin"
  let ticks = seconds * 20 :: Int
  forM_ [1 .. ticks] $ \i -> do
    when (i == ticks `div` 2) $ traceMarkerIO "half"
    tick i >>= \rs -> modifyIORef' kept (rs ++)
  traceMarkerIO "end"
  rs <- readIORef kept
  print (length rs)
  _ <- flushNow
  return ()
