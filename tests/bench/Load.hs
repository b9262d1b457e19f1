-- SPDX-License-Identifier: BSD-3-Clause
-- | A fixed amount of work, with no flag for anything: what it costs to be watched.
-- usage: Load service|allocate N
--   service   N requests by four threads, each against a table of 100,000 sessions, of which it renews one
--   allocate  N times 10,000 cells, of which nothing is kept
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import qualified Data.Map.Strict as Map
import Data.IORef
import System.Environment (getArgs)

session :: Int -> [Int]
session n = let xs = [n .. n + 20] in sum xs `seq` xs

service :: Int -> IO ()
service n = do
  table <- newIORef $! Map.fromList [(i, session i) | i <- [1 .. 100000 :: Int]]
  done <- newEmptyMVar
  forM_ [1 .. 4] $ \t -> forkIO $ do
    forM_ [1 .. n `div` 4] $ \i -> do
      let k = (i * 7919 + t) `mod` 100000
      found <- Map.lookup k <$> readIORef table
      _ <- evaluate (sum (map length [show (maybe 0 sum found + j) | j <- [1 .. 50 :: Int]]))
      atomicModifyIORef' table (\m -> (Map.insert k (session (k + i)) m, ()))
    putMVar done ()
  replicateM_ 4 (takeMVar done)
  readIORef table >>= print . Map.size

allocate :: Int -> IO ()
allocate n = do
  total <- newIORef (0 :: Int)
  forM_ [1 .. n] $ \i -> modifyIORef' total (+ length (filter even (map (* i) [1 .. 10000])))
  readIORef total >>= print

main :: IO ()
main = do
  [kind, n] <- getArgs
  (if kind == "service" then service else allocate) (read n)
