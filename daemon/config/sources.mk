sources := config_trend.c config_record.c config_file.c config.c
