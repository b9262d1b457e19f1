/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HW_PROTO_BASE_SIGNAL_NAME_H
#define HW_PROTO_BASE_SIGNAL_NAME_H

/* "SEGV" for SIGSEGV; NULL for a real-time signal, and for what is none. Static. */
const char *signal_name(int signal);

#endif
