sources := features.c stream.c doctor.c
