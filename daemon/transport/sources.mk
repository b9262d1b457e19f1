sources := zloop.c endpoint.c allowance.c bus.c push.c
