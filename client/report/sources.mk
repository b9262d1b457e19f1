sources := notes.c pair.c profiles.c inspected.c compose.c page.c plot_gather.c plot_choose.c theme.c plot_draw.c plot_write.c report.c
