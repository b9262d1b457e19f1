sources := hp.c convert.c
