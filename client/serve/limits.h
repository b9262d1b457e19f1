/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - what those who ask may cost together. */
#ifndef HW_CLIENT_SERVE_LIMITS_H
#define HW_CLIENT_SERVE_LIMITS_H

#define CONNECTIONS_MOST      256                /* open at once: the one that waits longest gives way */
#define PEER_CONNECTIONS_MOST 64                 /* of one address beyond this machine */
#define REQUEST_SECONDS       10                 /* from the first byte of a request to its last: closed */
#define IDLE_SECONDS          30                 /* a connection that sends or takes nothing: closed */
#define INPUT_MOST_BYTES      ((size_t)16 << 10) /* received of one connection and not looked at yet */
#define HEADERS_MOST_BYTES    8192               /* of one request; answered 400 */
#define BODY_MOST_BYTES       65536              /* answered 413 */
#define ADDRESS_MOST_BYTES    4096               /* answered 414 */
#define WAITING_MOST_BYTES    ((size_t)96 << 20) /* answered and not read, of all together; answered 503 */

#endif
