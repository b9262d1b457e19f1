sources := head.c threads.c heap.c why.c profile.c profile_file.c flame_graph.c pprof.c
