-- SPDX-License-Identifier: BSD-3-Clause
-- | A ring of threads that hand tokens on: nearly all of its log is threads that run, stop and wake one another.
-- Every twentieth hand-over writes a message.
-- usage: Handover THREADS HANDOVERS
module Main (main) where

import Control.Concurrent (forkIO)
import Control.Concurrent.MVar (MVar, newEmptyMVar, putMVar, takeMVar)
import Control.Monad (forM_, replicateM, when)
import Debug.Trace (traceEventIO)
import System.Environment (getArgs)

-- | Passes tokens from one place to the next until they have been passed on often enough.
station :: Int -> MVar () -> MVar Int -> MVar Int -> IO ()
station name done from to = do
  left <- takeMVar from
  when (left `mod` 20 == 0) $ traceEventIO ("station " ++ show name ++ ": " ++ show left ++ " to go")
  if left <= 0
    then putMVar done ()
    else putMVar to (left - 1) >> station name done from to

main :: IO ()
main = do
  [threads, handovers] <- fmap (map read) getArgs
  done <- newEmptyMVar
  places <- replicateM threads newEmptyMVar
  forM_ (zip3 [1 ..] places (drop 1 places ++ take 1 places)) $ \(name, from, to) -> forkIO (station name done from to)
  putMVar (head places) handovers
  takeMVar done
