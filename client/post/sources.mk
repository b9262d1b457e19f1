sources := http.c
