-- SPDX-License-Identifier: BSD-3-Clause
-- | A map of N entries, and work that allocates by threads whose order differs from run to run.
-- usage: Sized N
module Main (main) where

import Control.Concurrent
import Control.Monad (forM, forM_)
import qualified Data.IORef as R
import qualified Data.Map.Strict as M
import System.Environment (getArgs)

main :: IO ()
main = do
  [size] <- map read <$> getArgs
  held <- R.newIORef M.empty
  dones <- forM [0 .. 3] $ \worker -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      forM_ [worker, worker + 4 .. size - 1] $ \k -> do
        R.atomicModifyIORef' held (\m -> (M.insert (k * 7919 `mod` (2 * size)) (show k) m, ()))
        if k `mod` 97 == 0 then yield else return ()
      putMVar done ()
    return done
  forM_ dones takeMVar
  final <- R.readIORef held
  print (sum (map length (M.elems (final :: M.Map Int String))))
