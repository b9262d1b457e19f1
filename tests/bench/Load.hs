-- SPDX-License-Identifier: BSD-3-Clause
-- | A fixed amount of work, with no flag for anything: what it costs to be watched.
-- Prints the CPU time of all threads, in ns, from the end of the first tenth of the work to its end.
-- usage: Load service|allocate N
--   service   N requests by four threads, each against a table of 100,000 sessions, of which it renews one
--   allocate  N times 10,000 cells, of which nothing is kept
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import qualified Data.Map.Strict as Map
import Data.IORef
import System.CPUTime (getCPUTime)
import System.Environment (getArgs)

type Table = IORef (Map.Map Int [Int])

session :: Int -> [Int]
session n = let xs = [n .. n + 20] in sum xs `seq` xs

requests :: Table -> Int -> IO ()
requests table n = do
  done <- newEmptyMVar
  forM_ [1 .. 4] $ \t -> forkIO $ do
    forM_ [1 .. n `div` 4] $ \i -> do
      let k = (i * 7919 + t) `mod` 100000
      found <- Map.lookup k <$> readIORef table
      _ <- evaluate (sum (map length [show (maybe 0 sum found + j) | j <- [1 .. 50 :: Int]]))
      atomicModifyIORef' table (\m -> (Map.insert k (session (k + i)) m, ()))
    putMVar done ()
  replicateM_ 4 (takeMVar done)

allocate :: IORef Int -> Int -> IO ()
allocate total n = forM_ [1 .. n] $ \i -> modifyIORef' total (+ length (filter even (map (* i) [1 .. 10000])))

-- | The first tenth is the start: tables are filled, and what the agent does once is over.
measured :: (Int -> IO ()) -> Int -> IO ()
measured act n = do
  act (n `div` 10)
  began <- getCPUTime
  act (n - n `div` 10)
  ended <- getCPUTime
  print ((ended - began) `div` 1000)

main :: IO ()
main = do
  [kind, n] <- getArgs
  if kind == "service"
    then do
      table <- newIORef $! Map.fromList [(i, session i) | i <- [1 .. 100000 :: Int]]
      measured (requests table) (read n)
      readIORef table >>= evaluate . Map.size >> return ()
    else do
      total <- newIORef 0
      measured (allocate total) (read n)
