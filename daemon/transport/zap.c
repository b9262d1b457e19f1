/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/transport/zap.h"

#include <string.h>

enum { VERSION, ID, DOMAIN, ADDRESS, IDENTITY, MECHANISM, CREDENTIALS, FRAMES };

static bool is(const struct zap_frame *f, const char *text)
{
        return f->size == strlen(text) && !memcmp(f->data, text, f->size);
}

/* Goes into logs: what is not printable is shown as '?'. */
static void copy_address(char *out, size_t size, const struct zap_frame *f)
{
        const char *text = f->data;
        size_t n = f->size < size - 1 ? f->size : size - 1;

        for (size_t i = 0; i < n; i++)
                out[i] = text[i] > ' ' && text[i] < 127 ? text[i] : '?';
        out[n] = '\0';
}

const char *zap_read(const struct zap_frame *frames, size_t n, struct zap_request *ret)
{
        *ret = (struct zap_request){ .id = NULL };
        if (n <= ID || frames[ID].size > ZAP_ID_MAX)
                return "has no id";
        ret->id = frames[ID].data;
        ret->n_id = frames[ID].size;
        if (!is(&frames[VERSION], "1.0"))
                return "is of another version of ZAP";
        if (n <= ADDRESS)
                return "has no address";
        copy_address(ret->address, sizeof(ret->address), &frames[ADDRESS]);
        if (n <= MECHANISM || !is(&frames[MECHANISM], "CURVE"))
                return "is not by CURVE";
        if (n != FRAMES || frames[CREDENTIALS].size != KEY_BYTES)
                return "has no key";
        memcpy(ret->public, frames[CREDENTIALS].data, KEY_BYTES);
        return NULL;
}
