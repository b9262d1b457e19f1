{-# LANGUAGE BangPatterns #-}
-- SPDX-License-Identifier: BSD-3-Clause
-- | A shop's session service with a leak: a cache of sessions that is switched
-- on after some seconds and from which nothing is ever removed.
--
-- usage: Sessions [SECONDS [REQUESTS_PER_SECOND]]     (default: 30 400)
--
-- Nothing here depends on an eventlog; a build with one writes markers: "open", "cache on", "sale" (larger carts), "closing".
module Main (main) where

import Control.Concurrent (forkIO, newEmptyMVar, putMVar, takeMVar, threadDelay)
import Control.Exception (evaluate)
import Control.Monad (forM_, when)
import Data.IORef
import qualified Data.Map.Strict as Map
import Debug.Trace (traceEventIO, traceMarkerIO)
import GHC.Clock (getMonotonicTime)
import GHC.Conc (labelThread)
import System.Environment (getArgs)


data CartItem = CartItem { article :: !Int, amount :: !Int, price :: !Int }

data Visit = Visit { page :: !Int, tookMicros :: !Int }

data Session = Session { customer :: !Int, cart :: ![CartItem], visits :: ![Visit] }

type Cache = IORef (Map.Map Int Session)

-- | Pseudo-random numbers, the same in every run.
next :: Int -> Int
next x = (x * 1103515245 + 12345) `mod` 2147483648

randoms :: Int -> Int -> [Int]
randoms n = take n . tail . iterate next

-- | The work of one request: a session of its own, fully evaluated.
serve :: Int -> Int -> Session
serve items seed = Session (seed `mod` 100000) goods seen
  where
    !goods = forceList [CartItem (r `mod` 5000) (1 + r `mod` 3) (r `mod` 9900) | r <- randoms items seed]
    !seen = forceList [Visit (r `mod` 300) (r `mod` 50000) | r <- randoms 6 (seed + 1)]

-- | Recommendations for the customer: CPU work, nothing is kept.
recommend :: Int -> Int
recommend = go (60000 :: Int)
  where
    go 0 !x = x
    go n !x = go (n - 1) (next x)

forceList :: [a] -> [a]
forceList xs = foldr seq () xs `seq` xs

total :: Session -> Int
total s = sum [amount i * price i + article i | i <- cart s] + sum [page v + tookMicros v | v <- visits s] + customer s

request :: Cache -> IORef Int -> Bool -> Int -> Int -> IO ()
request cache revenue keep items n = do
  session <- evaluate (serve items (n * 7919 + 17))
  modifyIORef' revenue (+ (total session + recommend n `mod` 2))
  when keep $ modifyIORef' cache (Map.insert n session)
  when (n `mod` 1000 == 0) $ traceEventIO ("served " ++ show n ++ " requests")

-- | The phase of the run at a given time.
data Phase = Open | CacheOn | Sale | Closing deriving (Eq, Ord, Enum)

phaseAt :: Int -> Int -> Phase
phaseAt ticks tick
  | tick * 10 < ticks * 2 = Open
  | tick * 10 < ticks * 6 = CacheOn
  | tick * 10 < ticks * 9 = Sale
  | otherwise = Closing

phaseName :: Phase -> String
phaseName p = ["open", "cache on", "sale", "closing"] !! fromEnum p

-- | Ten ticks a second of real time, each with its share of requests; a machine that is too busy for them serves fewer.
work :: Cache -> IORef Int -> Int -> Int -> IO ()
work cache revenue seconds rate = getMonotonicTime >>= \start -> go start Nothing 0
  where
    ticks = seconds * 10
    perTick = max 1 (rate `div` 10)
    go start before tick = when (tick < ticks) $ do
      let phase = phaseAt ticks tick
          end = start + fromIntegral (tick + 1) / 10
      when (before /= Just phase) $ traceMarkerIO (phaseName phase)
      forM_ [1 .. perTick] $ \i -> do
        time <- getMonotonicTime
        when (i == 1 || time < end) $
          request cache revenue (phase == CacheOn || phase == Sale) (if phase == Sale then 100 else 80) (tick * perTick + i)
      now <- getMonotonicTime
      threadDelay (max 1000 (truncate ((end - now) * 1000000)))
      go start (Just phase) (tick + 1)

main :: IO ()
main = do
  arguments <- getArgs
  let number i fallback = case drop i arguments of { (a : _) -> read a; [] -> fallback }
  cache <- newIORef Map.empty
  revenue <- newIORef 0
  done <- newEmptyMVar
  worker <- forkIO (work cache revenue (number 0 30) (number 1 400) >> putMVar done ())
  labelThread worker "shop"
  takeMVar done
  kept <- Map.size <$> readIORef cache
  sumOfAll <- readIORef revenue
  putStrLn ("sessions kept: " ++ show kept ++ ", revenue " ++ show sumOfAll)
  return ()
