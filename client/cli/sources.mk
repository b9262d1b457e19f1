sources := options.c signals.c
