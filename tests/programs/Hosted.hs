{-# LANGUAGE ForeignFunctionInterface #-}
-- SPDX-License-Identifier: BSD-3-Clause
-- A library for programs of other languages, which keeps what it is called for.
module Hosted (grow) where

import qualified Data.Map.Strict as Map
import Data.IORef (IORef, modifyIORef', newIORef, readIORef)
import Foreign.C.Types (CInt (..))
import System.IO.Unsafe (unsafePerformIO)

store :: IORef (Map.Map Int [Int])
store = unsafePerformIO (newIORef Map.empty)
{-# NOINLINE store #-}

foreign export ccall grow :: CInt -> IO CInt

-- | Keeps so many more entries; returns how many there are.
grow :: CInt -> IO CInt
grow n = do
  modifyIORef' store (\m -> foldr (\i -> let k = Map.size m + i in Map.insert k [k, i]) m [1 .. fromIntegral n])
  fromIntegral . Map.size <$> readIORef store
