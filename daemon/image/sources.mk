sources := image.c containers.c decoder.c
