-- SPDX-License-Identifier: BSD-3-Clause
-- | A log shipper: one thread accepts lines, another one sends them.
-- Wrong: the queue between them, a Chan, has no bound, and sending is slower than accepting. --fixed makes the
-- acceptor wait while a thousand lines are in the queue.
--
--     ghc -O -threaded Queue.hs && heapwatch run -- ./Queue
module Main (main) where

import Control.Concurrent
import Control.Monad (forM_, forever, when)
import System.Environment (getArgs)

data Line = Line { level :: !Int, text :: !String }

receive :: Int -> Line
receive n = length message `seq` Line (n `mod` 5) message
  where message = "request " ++ show n ++ " answered"

send :: Line -> IO ()
send line = when (level line == 4 && length (text line) > 40) (putStrLn (text line))

main :: IO ()
main = do
  fixed <- (== ["--fixed"]) <$> getArgs
  queue <- newChan
  room <- newQSem 1000
  _ <- forkIO $ forever $ do
    forM_ [1 .. 10 :: Int] $ \_ -> readChan queue >>= send >> when fixed (signalQSem room)
    threadDelay 10000
  forM_ [1 .. 9000] $ \tick -> do
    forM_ [1 .. 80] $ \n -> do
      when fixed (waitQSem room)
      writeChan queue $! receive (80 * tick + n)
    threadDelay 10000
