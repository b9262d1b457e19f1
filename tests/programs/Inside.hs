-- SPDX-License-Identifier: BSD-3-Clause
-- | A heap and threads that are known: 40 threads in waitForReply, one 20,000 calls deep, one in STM, one in a delay;
-- 3,000 sessions in a map that a top-level IORef holds, each with two items; 500 orders that one thread holds. Says
-- "ready" when all is there, and has 3,000 sessions more for each line that it reads.
-- usage: Inside [busy|spin|stack|fork|wait]   until standard input ends, one more thread: busy allocates, spin is one function,
--                                             stack waits a million calls deep, fork makes threads that nobody ends, less than a
--                                             hundred a second; wait is busy, with 30 in waitForReply and 30 in waitForOrder more
module Main (main, sessions, waitForReply, waitForOrder, descend, holdOrders, spin, spinAgain) where

import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception (evaluate)
import Control.Monad
import qualified Data.Map.Strict as M
import Data.IORef
import Foreign.StablePtr
import GHC.Conc (labelThread)
import System.Environment (getArgs)
import System.IO
import System.IO.Unsafe (unsafePerformIO)
import System.Mem (performMajorGC)

data Item = Item !Int !Int
data Session = Session !Int !Item !Item
data Order = Order !Int !Double

sessions :: IORef (M.Map Int Session)
sessions = unsafePerformIO (newIORef M.empty)
{-# NOINLINE sessions #-}

fillSessions :: Int -> IO ()
fillSessions n = writeIORef sessions $! M.fromList [ (i, Session i (Item i 1) (Item i 2)) | i <- [1 .. n] ]
{-# NOINLINE fillSessions #-}

countSessions :: IO Int
countSessions = M.size <$> readIORef sessions
{-# NOINLINE countSessions #-}

waitForReply :: MVar Int -> IO Int
waitForReply m = do { n <- takeMVar m; return $! n + 1 }
{-# NOINLINE waitForReply #-}

waitForOrder :: MVar Int -> IO Int
waitForOrder m = do { n <- takeMVar m; return $! n + 2 }
{-# NOINLINE waitForOrder #-}

descend :: MVar Int -> Int -> IO Int
descend m 0 = takeMVar m
descend m n = do { x <- descend m (n - 1); return $! x + n }
{-# NOINLINE descend #-}

holdOrders :: [Order] -> MVar Int -> IO ()
holdOrders orders m = do { n <- takeMVar m; print (sum [ a + n | Order a _ <- orders ]) }
{-# NOINLINE holdOrders #-}

burn :: IORef Int -> Int -> IO ()
burn r n = do
  writeIORef r $! length (show (3 ^ (200 + n `mod` 7) :: Integer))
  burn r (n + 1)

spin :: Int -> Int -> Int
spin 0 a = a
spin n a = spin (n - 1) (if even (a * n) then a + n else a * 3 + 1)
{-# NOINLINE spin #-}

spinAgain :: IORef Int -> Int -> IO ()
spinAgain r n = do
  writeIORef r $! spin 100000 n
  spinAgain r (n + 1)
{-# NOINLINE spinAgain #-}

-- | Threads that wait for a reply that nobody sends.
forkAgain :: MVar Int -> Int -> IO ()
forkAgain reply n = do
  threadDelay 10000
  _ <- forkIO (void (waitForReply reply))
  when (n `mod` 200 == 0) performMajorGC
  forkAgain reply (n + 1)

named :: String -> IO () -> IO ()
named name io = forkIO io >>= \t -> labelThread t name

-- | For each line of standard input, 3,000 sessions more.
serve :: Int -> IO ()
serve n = isEOF >>= \end -> unless end $ do
  _ <- getLine
  fillSessions (n + 3000)
  performMajorGC
  putStrLn "more" >> hFlush stdout
  serve (n + 3000)

main :: IO ()
main = do
  args <- getArgs
  reply <- newEmptyMVar
  flag <- newTVarIO False
  _ <- newStablePtr reply
  _ <- newStablePtr flag
  fillSessions 3000
  let orders = [ Order i 1 | i <- [1 .. 500 + length (filter (== "more") args)] ]
  _ <- evaluate (length orders)
  forM_ [1 .. 40 :: Int] $ \i -> named ("worker-" ++ show i) (void (waitForReply reply))
  named "deep" (descend reply 20000 >>= print)
  named "stm" (atomically (readTVar flag >>= check))
  named "delay" (threadDelay 1000000000)
  named "orders" (holdOrders orders reply)
  count <- newIORef 0
  when (args == ["wait"]) $ forM_ [1 .. 30 :: Int] $ \_ ->
    forkIO (void (waitForReply reply)) >> forkIO (void (waitForOrder reply))
  when (args `elem` [["busy"], ["wait"]]) $ named "burn" (burn count 0)
  when (args == ["spin"]) $ named "spin" (spinAgain count 0)
  when (args == ["stack"]) $ named "deeper" (descend reply 1000000 >>= print)
  when (args == ["fork"]) $ named "fork" (forkAgain reply 1)
  threadDelay 200000
  performMajorGC
  putStrLn "ready" >> hFlush stdout
  serve 3000
  countSessions >>= print
