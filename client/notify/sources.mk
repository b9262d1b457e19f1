sources := alert_event.c record.c record_file.c plans.c rate_limit.c open_alerts.c dispatcher.c \
           alert_json.c exec_child.c exec.c resend.c executor.c acting.c notify.c
