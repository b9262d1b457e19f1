sources := print.c identity.c memory.c collections.c profiles.c trends.c threads.c sections.c command.c
