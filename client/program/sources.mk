sources := rtsinfo.c inquire.c sandbox.c agent_fit.c ask_agent.c
