sources := log.c watch.c
