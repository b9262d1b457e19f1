sources := options.c absent.c signals.c secret.c
