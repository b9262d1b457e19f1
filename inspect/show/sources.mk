sources := head.c out_file.c threads.c contents.c heap.c arrays.c graph_groups.c graph.c graph_file.c heapsnapshot.c why.c profile.c profile_file.c flame_graph.c pprof.c
