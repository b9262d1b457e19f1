sources := notes.c compose.c embed.c replaceable.c report.c
