sources := head.c threads.c heap.c why.c
