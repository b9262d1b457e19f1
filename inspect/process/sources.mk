sources := available.c files.c unpack.c live.c core.c stop.c os_threads.c registers.c tracer.c
