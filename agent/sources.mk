# In the order of the flow: settings, what the runtime is, our threads, the log and its readers, what is done when.
sources := settings.c options.c symbols.c layout.c syscall_filter.c patch.c malloc_arena.c thread.c queue.c writer.c meter.c \
           descriptor.c table_names.c preamble.c listener.c given.c reader.c server.c control.c profile_file.c runtime.c \
           synthetic.c own_log.c logging.c rise.c budget.c timetable.c requests.c pace.c
# These act by being linked: not in unit tests.
acting := life.c interpose.c
