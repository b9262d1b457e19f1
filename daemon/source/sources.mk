sources := uri.c allow.c source.c watch.c second_tick.c tail.c keeper.c fifo.c stdin.c address.c backoff.c inspector.c census_reader.c connect.c listen.c read.c \
           kernel_file.c cgroup.c procfs.c smaps.c log_length.c process_watch.c process.c outside.c
