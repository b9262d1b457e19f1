-- SPDX-License-Identifier: BSD-3-Clause
-- | Uses all of the package heapwatch (haskell/): says "ready" after a phase, requests a census for each line of its standard
-- input, and ends with it.
module Main (main) where

import System.IO

import Heapwatch

main :: IO ()
main = withHeapwatch $ do
  label "the orders' thread"
  orders <- phase "load orders" $ pure $! sum [1 .. 100000 :: Int]
  marker "cache full"
  putStrLn "ready" >> hFlush stdout
  input <- getContents
  mapM_ (\line -> census >> putStrLn line >> hFlush stdout) (lines input)
  print orders
