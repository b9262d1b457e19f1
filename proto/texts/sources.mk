sources := hp.c gc.c texts.c
