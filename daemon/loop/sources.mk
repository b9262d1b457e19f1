sources := watchdog.c
