sources := hp.c prof.c texts.c
