sources := config_trend.c directory.c config_record.c config_checkpoint.c config_file.c print.c config.c libraries.c
