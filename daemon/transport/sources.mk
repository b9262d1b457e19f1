sources := zloop.c endpoint.c peers.c allowance.c inflow.c waiting.c room.c zap.c connections.c admission.c broadcast.c bus.c push.c
