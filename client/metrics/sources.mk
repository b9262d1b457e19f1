sources := values.c histogram.c bands.c several.c table.c \
           collect.c text.c
