sources := rtsinfo.c inquire.c sandbox.c process_uri.c obstacle.c agent_fit.c ask_agent.c own_daemon.c
