sources := facts.c
