sources := recordings.c dump.c
