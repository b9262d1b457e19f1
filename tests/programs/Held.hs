-- SPDX-License-Identifier: BSD-3-Clause
-- | Keeps MIB of boxed data, and makes garbage until its standard input ends. Says "ready" when all of it is there.
-- usage: Held MIB [ROUNDS]     (a major collection after so many rounds of 10 ms)
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad (forM_, unless, when)
import qualified Data.IntMap.Strict as M
import Data.IORef
import System.Environment (getArgs)
import System.IO
import System.Mem (performMajorGC)

main :: IO ()
main = do
  mib : rounds <- map read <$> getArgs
  held <- newIORef $! M.fromDistinctAscList [(i, Just i) | i <- [1 .. mib * 10400]] -- some 100 bytes each
  performMajorGC
  putStrLn "ready" >> hFlush stdout
  over <- newEmptyMVar
  _ <- forkIO $ getContents >>= evaluate . length >> putMVar over ()
  let work n = do
        forM_ [1 .. 50 :: Int] $ \i -> evaluate (length (show (2 ^ i :: Integer)))
        threadDelay 10000
        when (any (\r -> n `mod` r == 0) rounds) performMajorGC
        done <- tryTakeMVar over
        unless (done /= Nothing) (work (n + 1))
  work (1 :: Int)
  readIORef held >>= print . M.size
