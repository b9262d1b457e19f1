sources := zloop.c endpoint.c bus.c push.c
