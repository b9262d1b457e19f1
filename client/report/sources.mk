sources := notes.c pair.c compose.c embed.c replaceable.c report.c watched.c
