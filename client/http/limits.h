/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - what all clients may cost together. */
#ifndef HW_CLIENT_HTTP_LIMITS_H
#define HW_CLIENT_HTTP_LIMITS_H

#define CONNECTIONS_MOST      256                /* open at once; beyond, the one that has waited longest is closed */
#define PEER_CONNECTIONS_MOST 64                 /* of one address outside this machine */
#define REQUEST_SECONDS       10                 /* from the first byte of a request to its last; then closed */
#define IDLE_SECONDS          30                 /* without sending or reading anything; then closed */
#define INPUT_MOST_BYTES      ((size_t)16 << 10) /* received on one connection and not parsed yet */
#define HEADERS_MOST_BYTES    8192               /* of one request; answered 400 */
#define BODY_MOST_BYTES       65536              /* answered 413 */
#define ADDRESS_MOST_BYTES    4096               /* answered 414 */
#define WAITING_MOST_BYTES    ((size_t)96 << 20) /* sent and not read, of all together; answered 503 */

#endif
