-- SPDX-License-Identifier: BSD-3-Clause
-- | Writes events as fast as it can.
-- usage: Stress EVENTS [wait] (each about 60 bytes; prints how many it wrote; `wait`: begins when its stdin ends)
module Main (main) where

import Control.Monad (forM_, unless)
import Debug.Trace (traceEventIO)
import System.Environment (getArgs)

main :: IO ()
main = do
  number : wait <- getArgs
  unless (null wait) $ getContents >>= \text -> length text `seq` return ()
  let events = read number :: Int
  forM_ [1 .. events] $ \i -> traceEventIO ("stress event number " ++ show i ++ " of this run, no more")
  print events
