-- SPDX-License-Identifier: BSD-3-Clause
-- | Writes events as fast as it can.
-- usage: Stress EVENTS        (each about 60 bytes; prints how many it wrote)
module Main (main) where

import Control.Monad (forM_)
import Debug.Trace (traceEventIO)
import System.Environment (getArgs)

main :: IO ()
main = do
  [events] <- fmap (map read) getArgs
  forM_ [1 .. events :: Int] $ \i -> traceEventIO ("stress event number " ++ show i ++ " of this run, no more")
  print events
