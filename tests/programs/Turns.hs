{-# LANGUAGE BangPatterns #-}
-- | Two functions take turns of some milliseconds: one allocates 70 % of all, the other needs most of the CPU time. Both shares are
-- printed at the end of the input, as the program counts them itself.
module Main (allocate, compute, main, steps) where

import Control.Concurrent (forkIO, newEmptyMVar, putMVar, tryReadMVar)
import Data.Bits (shiftR, xor)
import Data.IORef (IORef, newIORef, writeIORef)
import System.CPUTime (getCPUTime)
import System.IO (hFlush, isEOF, stdout)
import System.Mem (getAllocationCounter)

-- | Some words each time, which are garbage at once, after a few steps that allocate nothing.
allocate :: IORef [Int] -> Int -> IO ()
allocate _ 0 = pure ()
allocate to n = let !s = steps 16 n in writeIORef to [s, s + n, n] >> allocate to (n - 1)
{-# NOINLINE allocate #-}

-- | The same, after many steps.
compute :: IORef [Int] -> Int -> IO ()
compute _ 0 = pure ()
compute to n = let !s = steps 160 n in writeIORef to [s, s + n, n] >> compute to (n - 1)
{-# NOINLINE compute #-}

steps :: Int -> Int -> Int
steps 0 !s = s
steps k s = steps (k - 1) ((s * 6364136223846793005 + 1442695040888963407) `xor` (s `shiftR` 29))
{-# NOINLINE steps #-}

-- | Bytes, and CPU time.
data Count = Count !Int !Integer

count :: Count -> IO () -> IO Count
count (Count bytes time) act = do
  bytes0 <- getAllocationCounter
  time0 <- getCPUTime
  act
  time1 <- getCPUTime
  bytes1 <- getAllocationCounter
  pure (Count (bytes + fromIntegral (bytes0 - bytes1)) (time + time1 - time0))

share :: Integral a => a -> a -> Double
share a b = fromIntegral a / fromIntegral (a + b)

main :: IO ()
main = do
  end <- newEmptyMVar
  to <- newIORef []
  putStrLn "ready" >> hFlush stdout
  _ <- forkIO (isEOF >>= putMVar end)
  let turns :: Count -> Count -> IO ()
      turns a c = do
        a'@(Count bytesA timeA) <- count a (allocate to 70000)
        c'@(Count bytesC timeC) <- count c (compute to 30000)
        ended <- tryReadMVar end
        case ended of
          Nothing -> turns a' c'
          Just _ -> print (share bytesA bytesC) >> print (share timeA timeC)
  turns (Count 0 0) (Count 0 0)
