sources := values.c histogram.c bands.c several.c table.c set_prometheus_ghc.c set_ekg.c set_otel.c set_eventlog_live.c sets.c \
           collect.c text.c
