sources := features.c doctor.c
