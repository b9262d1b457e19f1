-- SPDX-License-Identifier: BSD-3-Clause
-- | A shop that numbers its tickets from an endless list.
-- Wrong: the list is a top-level value, a CAF, whose first ticket is still asked for: all that was computed of it
-- stays. --fixed computes each ticket from its number.
--
--     ghc -O -threaded Caf.hs && heapwatch run -- ./Caf
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Monad (forM_, when)
import System.Environment (getArgs)

data Ticket = Ticket { number :: !Int, check :: !Int, gate :: !Int }

ticket :: Int -> Ticket
ticket n = Ticket n (97 - n `mod` 97) (n `mod` 4)

tickets :: [Ticket]
tickets = map ticket [1 ..]
{-# NOINLINE tickets #-}

sell :: Ticket -> IO ()
sell t = when (number t `mod` check t == 96) $
  putStrLn ("gate " ++ show (gate t) ++ ", prize " ++ show (number t) ++ " since " ++ show (number (head tickets)))

main :: IO ()
main = do
  fixed <- (== ["--fixed"]) <$> getArgs
  forM_ (zip [1 .. 9000 * 700] (if fixed then map ticket [1 ..] else tickets)) $ \(n, next) -> do
    sell next
    when (n `mod` 700 == (0 :: Int)) (threadDelay 10000)
