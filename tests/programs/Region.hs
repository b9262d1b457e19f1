-- SPDX-License-Identifier: BSD-3-Clause
-- A compact region whose owner is a thread that only uses what is in it; most of what it has is dead. Waits for a line.
module Main (main) where

import Control.Monad (foldM)
import qualified Data.Map.Strict as Map
import GHC.Compact (compact, compactAdd, compactSize, getCompact)
import System.IO (hFlush, stdout)
import System.Mem (performMajorGC)

main :: IO ()
main = do
  empty <- compact (Map.empty :: Map.Map Int [Int])
  last' <- foldM (\c n -> compactAdd c (Map.insert n [n .. n + 2000] (Map.map (take 1) (getCompact c)))) empty [1 .. 60 :: Int]
  size <- compactSize last'
  let held = getCompact last'
  held `seq` performMajorGC
  print size
  putStrLn "ready"
  hFlush stdout
  _ <- getLine
  print (Map.foldl' (\n xs -> n + length xs) 0 held)
