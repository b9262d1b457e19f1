sources := image.c definitions.c containers.c decoder.c
