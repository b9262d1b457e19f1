sources := watchdog.c memory.c descriptors.c accept.c receive.c send.c crash.c
