sources := type.c unit.c vocabulary.c lexer.c matcher.c operators.c parser.c parse_term.c parse.c print.c \
           history.c eval.c headline.c template.c rule.c builtin.c state.c alert_text.c alert_list.c alerts.c alerts_image.c
