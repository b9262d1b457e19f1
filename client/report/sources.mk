sources := notes.c compose.c embed.c ours.c report.c
