sources := options.c absent.c signals.c secret.c say.c out_file.c progress.c xml.c
