sources := gauges.c alerting_band.c alerting_data.c alerting_words.c alerting.c alerting_image.c silence.c silence_state.c file_writer.c silence_store.c
