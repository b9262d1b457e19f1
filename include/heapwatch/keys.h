/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * keys.h - daemons of other machines: keys for their endpoints, and why one does not answer.
 *
 *     hw_endpoint_keys("tcp://prod-1:7700", my_secret, server_public, 1);
 *     ... subscribers and requesters of that endpoint use them from then on ...
 *
 * CURVE as ZeroMQ has it: encrypted, and each end knows the other by its key. A daemon listens beyond its machine only
 * so.
 */
#ifndef HEAPWATCH_KEYS_H
#define HEAPWATCH_KEYS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HW_KEY_BYTES   32
#define HW_SERVER_KEYS 4 /* at most for one endpoint */

/*
 * From now on this process meets a publish endpoint, as it is written there, with its own secret key and by one of n
 * public keys of the daemon, one after the other in `server`: they are tried in turn until one is answered to, so that
 * a daemon's key can be changed while both are known here. Everything is copied. n 0 forgets the endpoint. For all
 * threads' sockets that are made afterwards; not to be called while another thread makes some. Returns 0, -EINVAL,
 * -ENOMEM or -ENOTSUP (this libzmq has no CURVE).
 */
int hw_endpoint_keys(const char *publish, const uint8_t secret[HW_KEY_BYTES], const uint8_t *server, size_t n);

enum hw_probe {
        HW_PROBE_OPEN,    /* it lets us in */
        HW_PROBE_NOBODY,  /* nothing listens there, or nothing answers in time */
        HW_PROBE_REFUSED, /* our key is not authorised there */
        HW_PROBE_ANOTHER  /* it has another key, or none: it does not understand us */
};

/* Connects to the daemon's request endpoint to see how it takes us; waits at most timeout_ms. */
enum hw_probe hw_endpoint_probe(const char *publish, int timeout_ms);

#ifdef __cplusplus
}
#endif
#endif
