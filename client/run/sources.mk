sources := census_options.c below.c inside.c daemon.c outside.c adder.c hung.c follow.c notices.c session.c ending.c run.c
