/* SPDX-License-Identifier: BSD-3-Clause */
/* assets.c - access to what assets.S includes. */
#include "client/page/assets.h"

extern const char hw_page[], hw_page_end[], hw_page_policy[];

size_t page_size(void)
{
        return (size_t)(hw_page_end - hw_page);
}

const char *page_text(void)
{
        return hw_page;
}

const char *page_policy(void)
{
        return hw_page_policy;
}
