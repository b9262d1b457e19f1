-- SPDX-License-Identifier: BSD-3-Clause
-- | A chat server: each connection has a thread that keeps it alive, with a ping every 20 seconds.
-- Wrong: when a connection ends, its thread does not. --fixed ends it, however the connection ends.
--
--     ghc -O -threaded LeakedThreads.hs && heapwatch run -- ./LeakedThreads
module Main (main) where

import Control.Concurrent
import Control.Exception (finally)
import Control.Monad (forM_, forever)
import qualified Data.ByteString as B
import Data.IORef
import System.Environment (getArgs)

-- | What is kept for a connection: bytes that were received and not yet understood.
newtype Connection = Connection (IORef B.ByteString)

keepAlive :: Connection -> IO ()
keepAlive (Connection received) = forever $ do
  threadDelay (20 * 1000 * 1000)
  modifyIORef' received (B.cons 0)

serve :: Bool -> Int -> IO ()
serve fixed n = do
  connection <- Connection <$> newIORef (B.replicate 4000 (fromIntegral n))
  pinger <- forkIO (keepAlive connection)
  if fixed then chat connection `finally` killThread pinger else chat connection
  where chat (Connection received) = modifyIORef' received (B.append (B.pack [1, 2, 3]))

main :: IO ()
main = do
  fixed <- (== ["--fixed"]) <$> getArgs
  forM_ [1 .. 9000] $ \tick -> do
    forM_ [1 .. 8] $ \n -> serve fixed (8 * tick + n)
    threadDelay 10000
