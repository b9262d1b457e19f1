sources := assets.c
