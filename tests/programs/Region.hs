-- SPDX-License-Identifier: BSD-3-Clause
-- A compact region whose owner is a thread that only uses what is in it; most of what it has is dead. Waits for a line.
-- `grow`: one that grows, up to 400 MB.
module Main (main) where

import Control.Monad (foldM, forM_)
import qualified Data.Map.Strict as Map
import GHC.Compact (compact, compactAdd, compactSize, getCompact)
import System.Environment (getArgs)
import System.IO (hFlush, stdout)
import System.Mem (performMajorGC)

grow :: IO ()
grow = do
  region <- compact [0 :: Int]
  putStrLn "ready"
  hFlush stdout
  forM_ [1 .. 1000] $ \n -> compactAdd region [n .. n + 10000]
  _ <- getLine
  print (length (getCompact region))

main :: IO ()
main = getArgs >>= \args -> if args == ["grow"] then grow else do
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
