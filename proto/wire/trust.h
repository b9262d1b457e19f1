/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trust.h - whose socket this is: checked before a client connects, and before a daemon binds.
 *
 * A socket is as safe as its directory, and that as the directories above it:
 * whoever owns one of them, or may write to it without the sticky bit, can put
 * another directory in this one's place. hw_endpoint_check (heapwatch/wire.h)
 * is the whole check of a client.
 */
#ifndef HW_PROTO_WIRE_TRUST_H
#define HW_PROTO_WIRE_TRUST_H

#include <stdbool.h>
#include <sys/types.h>

struct error;

/*
 * Whether nobody but root, this process's user and `owner` can replace `directory`, whose last part may be missing.
 * False with a sentence in `error`. Links are followed in all parts but the last.
 */
bool trust_parents(const char *directory, uid_t owner, struct error *error);

/* Whether a client may talk to whoever listens at this endpoint: 0, -EPERM or -EACCES with a sentence in `error`. */
int trust_endpoint(const char *endpoint, struct error *error);

#endif
