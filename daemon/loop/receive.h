/* SPDX-License-Identifier: BSD-3-Clause */
/* receive.h - somebody who counts what comes by the descriptors that libzmq reads, by whichever thread. */
#ifndef HW_DAEMON_LOOP_RECEIVE_H
#define HW_DAEMON_LOOP_RECEIVE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * `size` bytes came by `fd`. False: to the reader the connection ends here. It runs on the thread that reads, must not
 * wait, and sees also what is not its own.
 */
typedef bool receive_look(int fd, size_t size);

/* From now on; NULL: nobody looks. */
void receive_looks(receive_look *look);

#endif
