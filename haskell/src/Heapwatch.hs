{-# LANGUAGE CPP #-}

-- |
-- Module      : Heapwatch
-- License     : BSD-3-Clause
-- Portability : GHC 8.10 to 9.14
--
-- Tells heapwatch, the memory monitor, what a program is doing, so that growth is shown beside what the program did then:
--
-- > import Heapwatch
-- >
-- > main :: IO ()
-- > main = withHeapwatch $ do
-- >   orders <- phase "load orders" loadOrders
-- >   marker "cache full"
-- >   serve orders
--
-- A program is watched without this module, too: @heapwatch run -- .\/program@. All of it goes through the eventlog of the
-- runtime, and costs a few nanoseconds while none is written. A runtime of GHC before 9.4 has an eventlog when the program
-- is linked with @-eventlog@; without it nothing here has an effect.
module Heapwatch
  ( withHeapwatch
  , phase
  , marker
  , label
  , census
  ) where

import Control.Concurrent (forkIO, killThread, myThreadId, threadDelay)
import Control.Exception (bracket, onException)
import Control.Monad (forever, when)
import Debug.Trace (traceMarkerIO)
#if MIN_VERSION_base(4,16,0)
import Debug.Trace (flushEventLog)
#endif
import Foreign.C.String (CString, withCString)
import Foreign.C.Types (CInt (..))
import Foreign.Ptr (FunPtr, Ptr, castPtrToFunPtr, nullPtr)
import GHC.Conc (labelThread)

-- | Runs the action, normally all of @main@. Where the program writes its eventlog without heapwatch's agent in it
-- (@+RTS -l@, read by @heapwatchd@), the log is flushed once a second meanwhile: else the runtime keeps events back until a
-- buffer is full, and they are seen late. This needs GHC 9.2; before, and where nothing is written or the agent flushes,
-- it is the action alone.
withHeapwatch :: IO a -> IO a
withHeapwatch action = do
  written <- isEventlogWritten
  agent <- if written then findAgentCensus else pure nullPtr
  if written && agent == nullPtr
    then bracket (forkIO (forever (threadDelay 1000000 >> flush))) killThread (const action)
    else action
  where
#if MIN_VERSION_base(4,16,0)
    flush = flushEventLog
#else
    flush = pure () :: IO ()
#endif

-- | Puts a marker with this text into the eventlog. heapwatch draws markers on every chart, and names the one at which a
-- growth began. Texts that differ in digits alone count as the same, and the first eight of each are kept longest.
--
-- The text is not evaluated while no eventlog is written.
marker :: String -> IO ()
marker text = do
  written <- isEventlogWritten
  when written (traceMarkerIO text)
{-# INLINE marker #-}

-- | Runs the action between the markers @NAME begins@ and @NAME ends@; the second is @NAME failed@ if it throws. Phases may
-- be in one another, and in several threads at a time.
phase :: String -> IO a -> IO a
phase name action = do
  marker (name ++ " begins")
  result <- action `onException` marker (name ++ " failed")
  marker (name ++ " ends")
  pure result

-- | Gives the calling thread a name, which heapwatch shows instead of its number. From GHC 9.6 on the runtime keeps it, for
-- @heapwatch threads@ and whoever watches later; before, only an eventlog that is written just then has it.
label :: String -> IO ()
label name = do
#if MIN_VERSION_base(4,18,0)
  set
#else
  written <- isEventlogWritten
  when written set
#endif
  where
    set = myThreadId >>= \thread -> labelThread thread name

-- | Requests a heap census, which shows what is alive now, by type: after a large input was read, or before a cache is
-- emptied. It is taken at the program's next major step, not before this returns, and pauses the program for a major
-- collection, about 0.4 ms for each MiB of live data. It counts towards heapwatch's budget of pauses, but is taken
-- beyond it, and never beyond @--max-pause@: so once in minutes, not in a loop.
--
-- Nothing happens while no eventlog is written or no heap profile runs. Without heapwatch's agent (@+RTS -l -hT@) it needs
-- GHC 9.6.
census :: IO ()
census = do
  written <- isEventlogWritten
  when written $ do
    agent <- findAgentCensus
    if agent /= nullPtr then callVoid (castPtrToFunPtr agent) else runtimeCensus

-- ----------------------------------------------------------------- the runtime

-- EVENTLOG_RUNNING of rts/EventLogWriter.h
isEventlogWritten :: IO Bool
isEventlogWritten = (== 2) <$> eventLogStatus
{-# INLINE isEventlogWritten #-}

foreign import ccall unsafe "eventLogStatus" eventLogStatus :: IO CInt

runtimeCensus :: IO ()
#if MIN_VERSION_base(4,18,0)
runtimeCensus = requestHeapCensus

foreign import ccall unsafe "requestHeapCensus" requestHeapCensus :: IO ()
#else
runtimeCensus = pure ()
#endif

-- ------------------------------------------------------------------- the agent

foreign import ccall unsafe "dynamic" callVoid :: FunPtr (IO ()) -> IO ()

-- The agent's function, where it is loaded into this process by `heapwatch run` or `attach`; attached, its names are not
-- among the global ones.
findAgentCensus :: IO (Ptr ())
#if defined(linux_HOST_OS)
findAgentCensus = do
  agent <- withCString "libheapwatch-agent.so" $ \name -> dlopen name (lazy + noload)
  if agent == nullPtr then pure nullPtr else withCString "heapwatch_agent_census" (dlsym agent)
  where
    lazy = 1
    noload = 4

foreign import ccall unsafe "dlopen" dlopen :: CString -> CInt -> IO (Ptr ())
foreign import ccall unsafe "dlsym" dlsym :: Ptr () -> CString -> IO (Ptr ())
#else
findAgentCensus = pure nullPtr
#endif
