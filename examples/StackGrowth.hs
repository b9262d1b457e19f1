-- SPDX-License-Identifier: BSD-3-Clause
-- | A meter that adds up what it reads, for as long as there is something to read.
-- Wrong: each reading waits on the stack for the sum of all later ones. --fixed hands the sum so far to the next step.
--
--     ghc -O -threaded StackGrowth.hs && heapwatch run -- ./StackGrowth
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Exception (evaluate)
import Control.Monad (when)
import System.Environment (getArgs)

-- | Reading n, of which there are some hundred thousand each second.
reading :: Int -> IO Int
reading n = when (n `mod` 2000 == 0) (threadDelay 10000) >> evaluate (n `mod` 100)

readings :: Int
readings = 9000 * 2000

addAll :: Int -> IO Int
addAll n | n == readings = return 0
addAll n = do
  now <- reading n
  later <- addAll (n + 1)
  return $! now + later

addOn :: Int -> Int -> IO Int
addOn soFar n | n == readings = return soFar
addOn soFar n = do
  now <- reading n
  let next = soFar + now in next `seq` addOn next (n + 1)

main :: IO ()
main = do
  fixed <- (== ["--fixed"]) <$> getArgs
  (if fixed then addOn 0 0 else addAll 0) >>= print
