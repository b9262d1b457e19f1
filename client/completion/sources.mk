sources := completion.c
