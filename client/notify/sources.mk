sources := alert_event.c record.c record_file.c news.c rate_limit.c dispatcher.c alert_json.c exec_child.c exec.c resend.c executor.c notify.c
