sources := store.c file.c
