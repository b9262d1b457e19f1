sources := overview.c targets.c target_columns.c memory.c bands.c band.c gc.c profile.c threads.c notes.c alerts.c help.c \
           views.c
