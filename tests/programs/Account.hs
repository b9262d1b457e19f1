-- SPDX-License-Identifier: BSD-3-Clause
-- | Grows, drops it all, takes memory from malloc, grows again: after each step it prints the step's name and the live
-- bytes that the newest collection found, and waits for a line.
-- usage: Account +RTS -T
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Exception (evaluate)
import Control.Monad (replicateM_)
import qualified Data.IntMap.Strict as M
import Data.IORef
import Data.Word (Word8)
import Foreign.Marshal.Alloc (mallocBytes)
import Foreign.Marshal.Utils (fillBytes)
import Foreign.Ptr (Ptr)
import GHC.Stats (gc, gcdetails_live_bytes, getRTSStats)
import System.IO
import System.Mem (performMajorGC)

main :: IO ()
main = do
  held <- newIORef (M.empty :: M.IntMap (Maybe Int))
  let step name = do
        performMajorGC
        stats <- getRTSStats
        putStrLn (name ++ " " ++ show (gcdetails_live_bytes (gc stats))) >> hFlush stdout
        _ <- getLine
        return ()
      grow mib = writeIORef held $! M.fromDistinctAscList [(i, Just i) | i <- [1 .. mib * 10400]] -- some 100 bytes each
  step "begun"
  grow 60
  step "grown"
  writeIORef held M.empty
  replicateM_ 4 (performMajorGC >> threadDelay 100000) -- the runtime gives memory back little by little
  step "dropped"
  taken <- mallocBytes size :: IO (Ptr Word8)
  fillBytes taken 1 size
  step "malloc"
  grow 30
  step "regrown"
  readIORef held >>= evaluate . M.size >>= hPutStrLn stderr . show
  where
    size = 20 * 1024 * 1024
