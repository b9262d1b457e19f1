sources := plan.c json.c silence.c limits.c done.c desk_table.c withdrawal.c desk.c exec_env.c \
           exec_child.c exec.c curl_library.c token.c http.c resend.c actor.c file.c mailbox.c worker.c state.c \
           act.c
