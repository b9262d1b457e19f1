/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - how long a browser waits for a daemon. */
#ifndef HW_CLIENT_WEB_LIMITS_H
#define HW_CLIENT_WEB_LIMITS_H

#define WEB_REQUEST_MS 5000 /* then it counts as no answer */

#endif
