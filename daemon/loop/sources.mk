sources := watchdog.c memory.c descriptors.c crash.c shutdown.c
