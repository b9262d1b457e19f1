sources := metrics.c
