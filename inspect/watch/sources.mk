sources := log.c watch.c profile.c
