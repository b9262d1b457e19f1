sources := closure.c info_tables.c blocks.c live_data.c rts_counters.c layout.c threads.c thread_bands.c names.c snapshot.c census.c arrays.c bands.c graph_types.c roots.c reach.c cpu_profile.c
