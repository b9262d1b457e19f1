sources := watchdog.c descriptors.c accept.c
