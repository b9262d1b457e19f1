sources := rest.c zloop.c endpoint.c peers.c request_quota.c subscriber_quota.c waiting.c client_memory.c zap.c connections.c admission.c broadcast.c bus.c push.c
