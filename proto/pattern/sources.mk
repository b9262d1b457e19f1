sources := pattern.c
