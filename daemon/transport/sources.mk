sources := zloop.c endpoint.c allowance.c zap.c connections.c admission.c bus.c push.c
