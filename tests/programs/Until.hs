-- SPDX-License-Identifier: BSD-3-Clause
-- | For programs that go on for as long as a test wants.
module Until (untilStdinEnds) where

import Control.Concurrent (forkIO, newEmptyMVar, putMVar, tryReadMVar)
import Control.Exception (evaluate)
import Data.Maybe (isJust)

-- | Gives an action that tells whether standard input has ended.
untilStdinEnds :: IO (IO Bool)
untilStdinEnds = do
  over <- newEmptyMVar
  _ <- forkIO $ getContents >>= evaluate . length >>= putMVar over
  return (isJust <$> tryReadMVar over)
