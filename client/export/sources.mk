sources := batcher.c series.c remote_write.c encode_remote_write.c encode_otlp.c queue.c journal.c sender.c attempt.c profiles.c profile_batch.c send_profile.c send_http.c send_remote_write.c \
           delivery.c plan.c plan_file.c scrape.c exporter.c export.c
