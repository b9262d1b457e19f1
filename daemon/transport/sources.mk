sources := rest.c zloop.c endpoint.c quotas.c zap.c address.c admission.c front_libzmq.c front.c bus_message.c bus_client.c bus_requests.c bus.c
