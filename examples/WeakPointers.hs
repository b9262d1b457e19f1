-- SPDX-License-Identifier: BSD-3-Clause
-- | A viewer of pictures, which has a finaliser for each picture, to drop its thumbnail when the picture goes.
-- Wrong: the finaliser is attached to the album, which never goes, and holds the thumbnail until then.
-- --fixed attaches it to the picture.
--
--     ghc -O -threaded WeakPointers.hs && heapwatch run -- ./WeakPointers
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Exception (evaluate)
import Control.Monad (forM_)
import qualified Data.ByteString as B
import Data.IORef
import System.Environment (getArgs)

thumbnail :: Int -> B.ByteString
thumbnail picture = B.replicate 8000 (fromIntegral picture)

main :: IO ()
main = do
  fixed <- (== ["--fixed"]) <$> getArgs
  album <- newIORef (0 :: Int)
  dropped <- newIORef (0 :: Int)
  forM_ [1 .. 9000] $ \tick -> do
    forM_ [1 .. 8] $ \n -> do
      picture <- newIORef (8 * tick + n)
      small <- readIORef picture >>= evaluate . thumbnail
      let finaliser = modifyIORef' dropped (+ fromIntegral (B.last small))
      _ <- if fixed then mkWeakIORef picture finaliser else mkWeakIORef album finaliser
      modifyIORef' album (+ 1)
    threadDelay 10000
  readIORef dropped >>= print
