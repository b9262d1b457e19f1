sources := alerting_band.c alerting_data.c alerting_words.c alerting.c alert_actions.c
