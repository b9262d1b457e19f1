-- SPDX-License-Identifier: BSD-3-Clause
-- | A heap of many types: N units of some 1,000 bytes each in a top-level IORef; 40 threads in waitForReply, and one that
-- is 10,000 calls deep. Writes "ready" when all is there, and waits until standard input ends.
-- usage: Kinds N [collect]     collect: a major collection ten times a second, so that the runtime can make its censuses
module Main (main, units, waitForReply, descend) where

import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import Data.Array (Array, listArray)
import Data.Array.Unboxed (UArray)
import qualified Data.Array.Unboxed as U
import qualified Data.ByteString as B
import qualified Data.ByteString.Short as S
import Data.Complex
import qualified Data.IntMap.Strict as I
import Data.IORef
import qualified Data.Map.Strict as M
import Data.Ratio
import qualified Data.Sequence as Q
import qualified Data.Set as Set
import qualified Data.Text as T
import Foreign.StablePtr
import System.Environment (getArgs)
import System.IO
import System.IO.Unsafe (unsafePerformIO)
import System.Mem (performMajorGC)
import System.Mem.Weak

data Colour = Red !Int | Green !Int !Int | Blue !Int !Int !Int | Grey
data Shape = Circle !Double | Square !Colour | Group [Shape]

-- | What it keeps is of a type of its own for each field.
data Unit = Unit
  { number :: !Int
  , list :: [Int]
  , table :: !(M.Map Int Colour)
  , members :: !(Set.Set Char)
  , queue :: !(Q.Seq Shape)
  , sparse :: !(I.IntMap Integer)
  , name :: !T.Text
  , pinned :: !B.ByteString
  , short :: !S.ShortByteString
  , boxed :: !(Array Int (Maybe Int))
  , unboxed :: !(UArray Int Double)
  , pair :: (Int, Either Int Word)
  , triple :: (Char, Float, Ratio Int)
  , complex :: !(Complex Double)
  , later :: Int
  , step :: Int -> Int
  , cell :: !(IORef Int)
  , box :: !(MVar Int)
  , variable :: !(TVar Int)
  , weak :: !(Weak (IORef Int))
  }

units :: IORef [Unit]
units = unsafePerformIO (newIORef [])
{-# NOINLINE units #-}

-- | A value that nobody needs before the end.
compute :: Int -> Int -> Int
compute a b = if a > 1000000000 then b else a * 31 + b
{-# NOINLINE compute #-}

forced :: [a] -> [a]
forced xs = foldr seq xs xs

make :: Int -> IO Unit
make n = do
  c <- newIORef n
  b <- newMVar n
  v <- newTVarIO n
  w <- mkWeakIORef c (return ())
  when (n `mod` 16 == 0) (void (newStablePtr v))
  return $!
    Unit
      { number = n
      , list = forced [n .. n + 5]
      , table = M.fromList [(n, Red n), (n + 1, Green n n), (n + 2, Blue n n n), (n + 3, Grey)]
      , members = Set.fromList (take 3 (drop (n `mod` 20) ['a' ..]))
      , queue = Q.fromList [Circle (fromIntegral n), Square (Red n), Group [Circle 1, Square Grey]]
      , sparse = I.fromList [(n * 7, 2 ^ (70 :: Int) + fromIntegral n), (n * 11, fromIntegral n)]
      , name = T.pack ("unit " ++ show n)
      , pinned = if n `mod` 16 == 0 then B.replicate 100 (fromIntegral n) else B.empty
      , short = S.toShort (B.replicate 20 (fromIntegral n))
      , boxed = listArray (0, 2) (forced [Just n, Nothing, Just (n + 1)])
      , unboxed = U.listArray (0, 3) [fromIntegral (n + i) | i <- [0 .. 3 :: Int]]
      , pair = if even n then (n, Left n) else (n, Right (fromIntegral n))
      , triple = (toEnum (97 + n `mod` 26), fromIntegral n, n % 7)
      , complex = fromIntegral n :+ 1
      , later = compute n 1
      , step = compute n
      , cell = c
      , box = b
      , variable = v
      , weak = w
      }

waitForReply :: MVar Int -> IO Int
waitForReply m = do { n <- takeMVar m; return $! n + 1 }
{-# NOINLINE waitForReply #-}

descend :: MVar Int -> Int -> IO Int
descend m 0 = takeMVar m
descend m n = do { x <- descend m (n - 1); return $! x + n }
{-# NOINLINE descend #-}

total :: Unit -> Int
total u = number u + sum (list u) + M.size (table u) + later u + step u 2

main :: IO ()
main = do
  n : rest <- getArgs
  reply <- newEmptyMVar
  _ <- newStablePtr reply
  forM_ [1 .. read n] $ \i -> make i >>= \u -> modifyIORef' units (u :)
  forM_ [1 .. 40 :: Int] $ \_ -> forkIO (void (waitForReply reply))
  _ <- forkIO (void (descend reply 10000))
  when (rest == ["collect"]) $ void $ forkIO $ forever $ threadDelay 100000 >> performMajorGC
  threadDelay 200000
  performMajorGC
  putStrLn "ready" >> hFlush stdout
  _ <- getContents >>= \s -> return $! length s
  kept <- readIORef units
  print (sum (map total kept))
