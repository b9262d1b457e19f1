sources := blocks.c relay.c flags.c census_options.c below.c inside.c daemon.c adder.c hung.c follow.c notices.c session.c ending.c run.c
