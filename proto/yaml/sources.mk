sources := yaml_file.c
