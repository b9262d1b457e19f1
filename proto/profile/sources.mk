sources := pprof.c
