sources := blocks.c relay.c flags.c inside.c daemon.c adder.c hung.c follow.c notices.c session.c ending.c run.c
