sources := head.c threads.c
