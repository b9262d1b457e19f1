sources := shift.c bins.c part.c rows.c meter.c quantities.c side.c archived.c live.c compare.c bounds.c cautions.c words.c print_text.c print_json.c command.c
