sources := secret.c answer.c guard.c listen_address.c connections.c http.c
