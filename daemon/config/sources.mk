sources := config_trend.c directory.c settings.c config_file.c print.c config.c libraries.c
