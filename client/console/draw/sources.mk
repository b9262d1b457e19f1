sources := text.c canvas.c hits.c widgets.c chart.c chart_draw.c
