sources := hp.c gc.c prof.c texts.c
