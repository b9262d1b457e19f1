-- SPDX-License-Identifier: BSD-3-Clause
-- | A server on a loopback socket: a thread for each connection, a table of MIB that each request looks into, renewing one
-- entry. A request is 16 bytes, so is its answer, the same ones. Says its port when the table is there; ends with its input.
-- usage: Server MIB [SECONDS]      (a major collection so often)
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import Data.IORef
import qualified Data.IntMap.Strict as M
import Data.Word (Word8)
import Foreign (Ptr, Word32, alloca, allocaBytes, castPtr, peek)
import Foreign.C
import System.Environment (getArgs)
import System.IO
import System.Mem (performMajorGC)
import System.Posix.Types (Fd (..))

foreign import ccall unsafe server_listen :: Ptr CInt -> IO CInt
foreign import ccall unsafe server_accept :: CInt -> IO CInt
foreign import ccall unsafe server_receive :: CInt -> Ptr Word8 -> CInt -> IO CInt
foreign import ccall unsafe server_send :: CInt -> Ptr Word8 -> CInt -> IO CInt

type Table = IORef (M.IntMap (Maybe Int))

size :: Int
size = 16

-- | Whole messages only: both sides write them at once.
serve :: Table -> Int -> CInt -> IO ()
serve table entries fd = allocaBytes size go
  where
    go buffer = do
      n <- server_receive fd buffer (fromIntegral size)
      case n of
        -1 -> threadWaitRead (Fd fd) >> go buffer -- nothing yet
        0 -> return ()
        _ -> do
          key <- fromIntegral <$> peek (castPtr buffer :: Ptr Word32)
          answer key
          _ <- server_send fd buffer (fromIntegral size)
          go buffer
    answer key = do
      held <- readIORef table
      let k = 1 + key * 7919 `mod` entries
      _ <- evaluate (sum [length (show (maybe 0 (+ j) (join (M.lookup k held)))) | j <- [1 .. 100 :: Int]])
      atomicModifyIORef' table (\m -> (M.insert k (Just key) m, ()))

main :: IO ()
main = do
  mib : every <- map read <$> getArgs
  let entries = mib * 10400 -- some 100 bytes each
  table <- newIORef $! M.fromDistinctAscList [(i, Just i) | i <- [1 .. entries]]
  (listener, port) <- alloca $ \p -> (,) <$> server_listen p <*> peek p
  performMajorGC
  print (toInteger port) >> hFlush stdout
  _ <- forkIO $ forever $ do
    fd <- server_accept listener
    if fd < 0 then threadWaitRead (Fd listener) else void (forkIO (serve table entries fd))
  forM_ every $ \s -> forkIO (forever (threadDelay (s * 1000000) >> performMajorGC))
  getContents >>= evaluate . length >>= print
