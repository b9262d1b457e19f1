sources := rtsinfo.c inquire.c
