sources := rtsinfo.c inquire.c sandbox.c process_uri.c obstacle.c agent_fit.c hidden_symbols.c symbol_cache.c agent_census.c own_daemon.c
