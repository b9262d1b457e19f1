sources := identity.c answers.c memory.c resident.c collections.c bands.c notes.c stream.c overview.c
