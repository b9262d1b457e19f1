{-# LANGUAGE BangPatterns #-}
-- SPDX-License-Identifier: BSD-3-Clause
-- | One twentieth of a second of a service's work.
module Work (Record (..), tick) where

import Control.Concurrent (threadDelay)
import Control.Exception (evaluate)

data Record = Record { key :: !Int, weight :: !Int }

-- | About half of the time busy, because the RTS takes censuses in busy time only.
tick :: Int -> IO [Record]
tick i = do
  x <- evaluate (spin (2000000 :: Int) i)
  let rs = [Record (i * 1000 + j) ((x + j) `mod` 97) | j <- [1 .. 500]]
  _ <- evaluate (sum (map (\r -> key r + weight r) rs))
  threadDelay 30000
  return rs
  where
    spin 0 !x = x
    spin n !x = spin (n - 1) ((x * 1103515245 + 12345) `mod` 2147483648)
