/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts file: names, endpoints, keys of daemons; mistakes with their place. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/test.h"

#include "client/cli/endpoints.h"
#include "proto/cli/yaml/yaml_file.h"

#define A "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define B "10112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static char said[4096];

static void keep(void *ctx, const char *line)
{
        (void)snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
}

static const struct error_sink says = { .say = keep };

TEST(test_hosts)
{
        struct hosts h;

        assert_true(hosts_parse(&h, "hosts",
                                "prod-1:\n  endpoint: tcp://prod-1.example:7700\n  server_key: " A "\n"
                                "prod-2: { endpoint: 'tcp://[2001:db8::2]:7700', server_key: [" A ", " B
                                "], key: alice }\n",
                                &says));
        assert_int_equal(h.n, 2);
        const struct host *one = hosts_find(&h, "prod-1"), *two = hosts_find(&h, "prod-2");
        assert_string_equal(one->endpoint, "tcp://prod-1.example:7700");
        assert_int_equal(one->n_server, 1);
        assert_string_equal(one->key, "");
        assert_int_equal(two->n_server, 2);
        assert_int_equal(two->server[1][0], 0x10);
        assert_string_equal(two->key, "alice");
        assert_null(hosts_find(&h, "prod"));
        hosts_done(&h);
        assert_true(hosts_parse(&h, "hosts", "# nothing yet\n", &says));
        hosts_done(&h);
}

TEST(test_mistakes)
{
        static const struct {
                const char *text, *line;
        } wrong[] = {
                { "- a\n", "hosts:1:1: " },
                { "a: tcp://b:1\n", "hosts:1:4: " },
                { "a: { endpoint: 'tcp://b:1' }\n", "hosts:1:4: the host's server_key is missing" },
                { "a: { endpoint: 'ipc:///x/publish', server_key: " A " }\n", "hosts:1:16: 'ipc:///x/publish'" },
                { "a: { endpoint: 'tcp://b', server_key: " A " }\n", "hosts:1:16: 'tcp://b'" },
                { "a: { endpoint: 'tcp://b:1', server_key: x }\n", "hosts:1:41: expected the daemon's public key" },
                { "a: { endpoint: 'tcp://b:1', server_key: [] }\n", "hosts:1:41: expected a key or several" },
                { "a: { endpoint: 'tcp://b:1', server_key: [" A "," A "," A "," A "," A "] }\n",
                  "hosts:1:302: more than 4" },
                { "a b: { endpoint: 'tcp://b:1', server_key: " A " }\n", "hosts:1:1: 'a b' cannot" },
                { "a: { endpoint: 'tcp://b:1', server_key: " A ", rank: 1 }\n", "hosts:1:107: " },
        };
        struct hosts h;

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                said[0] = '\0';
                assert_false(hosts_parse(&h, "hosts", wrong[i].text, &says));
                assert_int_equal(h.n, 0);
                if (strncmp(said, wrong[i].line, strlen(wrong[i].line)) != 0)
                        fail_msg("expected '%s', found '%s'", wrong[i].line, said);
        }
}
