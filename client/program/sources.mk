sources := rtsinfo.c inquire.c fence.c agent_fit.c ask_agent.c
