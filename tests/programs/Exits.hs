{-# LANGUAGE ForeignFunctionInterface #-}
-- Exits WAY [SECONDS]: allocates for this long, then ends, or forks, or changes the runtime, in one of many ways.
-- The exit status is 0 unless stated otherwise. Built without any flag, so that only the agent makes a log.
module Main (main) where

import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.Map.Strict as M
import Data.IORef
import Foreign.C
import Foreign.Ptr
import System.Environment
import System.Exit
import System.IO
import System.Mem
import System.Posix.IO
import System.Posix.Process
import System.Posix.Resource
import System.Posix.Signals
import System.Process

foreign import ccall safe "exit" exitSafe :: CInt -> IO ()
foreign import ccall unsafe "exit" exitUnsafe :: CInt -> IO ()
foreign import ccall safe "abort" abortNow :: IO ()
foreign import ccall safe "sleep" sleepSafe :: CUInt -> IO CUInt
foreign import ccall unsafe "chroot" chroot :: CString -> IO CInt
foreign import ccall unsafe "usleep" sleepUnsafe :: CUInt -> IO CInt
foreign import ccall unsafe "time" unixTime :: Ptr () -> IO CTime

allocate :: Int -> IO ()
allocate n = do
  r <- newIORef M.empty
  forM_ [1 .. n] $ \i -> modifyIORef' r (M.insert (i `mod` 3000) (show i))
  m <- readIORef r
  _ <- evaluate (M.size m)
  return ()

forSeconds :: Double -> IO ()
forSeconds s = do
  done <- newIORef False
  _ <- forkIO (threadDelay (round (s * 1000000)) >> writeIORef done True)
  let go = do
        allocate 2000
        d <- readIORef done
        unless d (threadDelay 500 >> go)
  go

-- Busy, and allocates nothing.
withoutCollections :: CTime -> IO ()
withoutCollections s = do
  began <- unixTime nullPtr
  let go = do
        now <- unixTime nullPtr
        when (now - began < s) go
  go

-- Forks twice; the last process goes on.
daemon :: IO () -> IO ()
daemon act = do
  _ <- forkProcess $ do
    _ <- createSession
    _ <- forkProcess $ do
      null <- handleToFd =<< openFile "/dev/null" ReadWriteMode
      forM_ [stdInput, stdOutput, stdError] (dupTo null)
      act
    exitImmediately ExitSuccess
  exitImmediately ExitSuccess

each :: Int -> (Int -> IO ()) -> IO ()
each n act = do
  vs <- forM [1 .. n] $ \i -> do
    v <- newEmptyMVar
    _ <- forkIO (act i `finally` putMVar v ())
    return v
  mapM_ takeMVar vs

expect :: Bool -> IO ()
expect ok = unless ok (exitWith (ExitFailure 99))

main :: IO ()
main = do
  arguments <- getArgs
  let (way, seconds) = case arguments of
        [w, s] -> (w, read s)
        [w] -> (w, 0.05)
        _ -> ("return", 0.05)
  forSeconds seconds
  case way of
    "return" -> return ()
    "status" -> exitWith (ExitFailure 3)
    "exception" -> ioError (userError "on purpose")
    "thread" -> do
      t <- myThreadId
      _ <- forkIO (throwTo t (ExitFailure 4))
      forever (allocate 500)
    "immediately" -> exitImmediately (ExitFailure 5)
    "c-exit" -> exitSafe 6
    "c-exit-unsafe" -> exitUnsafe 7
    "abort" -> abortNow
    "interrupt" -> raiseSignal sigINT >> threadDelay 5000000
    "terminate" -> raiseSignal sigTERM >> threadDelay 5000000
    "handler" -> do
      caught <- newEmptyMVar
      _ <- installHandler sigTERM (Catch (putMVar caught ())) Nothing
      raiseSignal sigTERM
      takeMVar caught
    "blocked" -> do
      v <- newEmptyMVar :: IO (MVar ())
      r <- try (takeMVar v)
      expect (either (\BlockedIndefinitelyOnMVar -> True) (const False) r)
    "sleeping-call" -> forkIO (void (sleepSafe 30)) >> threadDelay 20000
    "unsafe-call" -> replicateM_ 3 (sleepUnsafe 20000)
    "collect" -> forM_ [1 .. 50 :: Int] $ \i -> allocate 200 >> (if even i then performMajorGC else performMinorGC)
    "capabilities" -> forM_ [2, 1, 4, 3, 1, 2] $ \n -> setNumCapabilities n >> each n (const (allocate 2000))
    "threads" -> each 200 $ \i -> threadDelay (i * 50) >> allocate 50
    "bound-threads" ->
      if rtsSupportsBoundThreads
        then do
          vs <- replicateM 8 newEmptyMVar
          forM_ vs $ \v -> forkOS (allocate 1000 >> putMVar v ())
          mapM_ takeMVar vs
        else each 8 (const (allocate 1000))
    "daemon" -> daemon (forSeconds 60)
    "compute" -> withoutCollections 60
    "daemon-late" -> daemon (withoutCollections 3 >> forSeconds 60)
    "fork" -> do
      p <- forkProcess (allocate 5000)
      st <- getProcessStatus True False p
      allocate 2000
      expect (st == Just (Exited ExitSuccess))
    "fork-status" -> do
      p <- forkProcess (allocate 1000 >> exitWith (ExitFailure 2))
      st <- getProcessStatus True False p
      expect (st == Just (Exited (ExitFailure 2)))
    "exec" -> do
      out <- readProcess "/bin/sh" ["-c", "echo \"$LD_PRELOAD$HEAPWATCH_AGENT$GHCRTS\""] ""
      expect (out == "\n")
    "exec-self" -> do
      path <- getExecutablePath
      out <- readProcess path ["print", "0.01"] ""
      expect (out == "fine\n")
    "execute-itself" -> getExecutablePath >>= \path -> executeFile path False ["print", "2"] Nothing
    "execute-another" -> executeFile "/bin/sh" False ["-c", "sleep 2; exit 3"] Nothing
    "chroot" -> do
      failed <- withCString "." chroot
      expect (failed == 0)
      forSeconds seconds
      putStrLn "fine"
    "close-unknown" -> do -- as a daemon does, but for those of its runtime
      forM_ [32 .. 1023] $ \fd -> try (closeFd fd) :: IO (Either IOException ())
      forSeconds seconds
      putStrLn "fine"
    "close-for-good" -> do -- and no other descriptor can be opened
      let few = ResourceLimit 3
      setResourceLimit ResourceOpenFiles (ResourceLimits few few)
      forM_ [32 .. 1023] $ \fd -> try (closeFd fd) :: IO (Either IOException ())
      forSeconds seconds
      putStrLn "fine"
    "print" -> putStrLn "fine"
    "line" -> getLine >>= putStrLn -- idle until it comes
    "idle" -> threadDelay 100000
    "rest" -> threadDelay 600000000
    _ -> hPutStrLn stderr ("no such way: " ++ way) >> exitWith (ExitFailure 98)
