/* SPDX-License-Identifier: BSD-3-Clause */
/* send.h - somebody who counts what goes out by the descriptors that libzmq writes, by whichever thread. */
#ifndef HW_DAEMON_LOOP_SEND_H
#define HW_DAEMON_LOOP_SEND_H

#include <stddef.h>

/* The kernel took `size` bytes for `fd`. It runs on the thread that writes, must not wait, and sees all descriptors. */
typedef void send_look(int fd, size_t size);

/* From now on; NULL: nobody looks. */
void send_looks(send_look *look);

#endif
