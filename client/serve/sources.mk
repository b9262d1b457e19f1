sources := answer.c guard.c place.c connections.c
