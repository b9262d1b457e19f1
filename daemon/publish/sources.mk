sources := gather.c label.c encode.c encode_run.c encode_heap.c encode_gc.c encode_census.c \
           encode_bands.c encode_notes.c encode_profile.c encode_sched.c encode_health.c sentences.c \
           encode_trend.c send_state.c send_alerts.c send_rows.c send_trend.c event_stream.c publisher.c \
           snapshot.c
