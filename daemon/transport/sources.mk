sources := zloop.c endpoint.c allowance.c zap.c connections.c admission.c broadcast.c bus.c push.c
