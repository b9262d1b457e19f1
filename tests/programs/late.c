/* SPDX-License-Identifier: BSD-3-Clause */
/* A main() that starts the runtime when libheapwatch-agent is in it: too late for its hooks, too early to attach; or
 * when there is something to read. */
#include "Rts.h"

#include <link.h>
#include <poll.h>
#include <string.h>

extern StgClosure ZCMain_main_closure;

static int is_agent(struct dl_phdr_info *info, size_t size, void *ctx)
{
        return strstr(info->dlpi_name, "libheapwatch-agent") != NULL;
}

int main(int argc, char **argv)
{
        const RtsConfig config = defaultRtsConfig; /* which it does not change any more */

        struct pollfd input = { 0, POLLIN, 0 };

        while (!dl_iterate_phdr(is_agent, NULL) && poll(&input, 1, 20) == 0)
                ;
        return hs_main(argc, argv, &ZCMain_main_closure, config);
}
