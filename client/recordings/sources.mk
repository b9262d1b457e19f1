sources := recordings.c stretch_file.c dump.c bundles.c bundle.c
