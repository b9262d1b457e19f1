sources := notes.c compose.c embed.c report.c
