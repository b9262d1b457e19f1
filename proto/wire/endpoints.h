/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoints.h - from a daemon's publish endpoint to the endpoint that answers requests. */
#ifndef HW_PROTO_WIRE_ENDPOINTS_H
#define HW_PROTO_WIRE_ENDPOINTS_H

#include <stddef.h>

#define ENDPOINT_MAX 512 /* bytes, NUL included */

/*
 * The request endpoint beside `publish`: for ipc the last "publish" replaced by
 * "request", for tcp the next port. Returns 0, -EINVAL (neither, or nothing to
 * replace) or -ENAMETOOLONG.
 */
int endpoint_request(char *ret_request, size_t size, const char *publish);

#endif
