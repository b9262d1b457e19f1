sources := rtsinfo.c inquire.c agent_fit.c
