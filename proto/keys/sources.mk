sources := key.c authorized.c
