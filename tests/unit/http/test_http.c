/* SPDX-License-Identifier: BSD-3-Clause */
/* HTTP out against servers that are right, slow, gone, wrong, or never stop talking. */
#include "tests/unit/http/http_server.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/out/http/http.h"
#include "proto/base/error.h"
#include "tests/unit/test.h"

static struct event_base *base;
static struct http *http;

struct seen {
        unsigned done;
        struct http_result result;
};

static void on_done(void *ctx, const struct http_result *result)
{
        struct seen *s = ctx;

        s->result = *result;
        s->done++;
}

static int set_up(void **state)
{
        base = event_base_new();
        http = http_new(base);
        return http ? 0 : -1;
}

static int tear_down(void **state)
{
        http_destroy(&http);
        event_base_free(base);
        return 0;
}

static struct http_result post_to(const char *url, uint64_t timeout_ns, const char *bearer_file)
{
        struct http_post post = { .url = url,
                                  .body = "{\"a\":1}",
                                  .size = 7,
                                  .type = HTTP_JSON,
                                  .timeout_ns = timeout_ns,
                                  .bearer_file = bearer_file };
        struct seen seen = { .done = 0 };
        struct error error = { "" };

        if (!http_start(http, &post, on_done, &seen, &error)) {
                snprintf(seen.result.detail, sizeof(seen.result.detail), "%.190s", error.text);
                return seen.result;
        }
        assert_int_equal(seen.done, 0);
        run_until(base, &seen.done, 1);
        return seen.result;
}

static struct http_result post(struct server *s, uint64_t timeout_ns, const char *bearer_file)
{
        char url[128];

        snprintf(url, sizeof(url), "http://127.0.0.1:%d/hook/secret-path?x=1", s->port);
        return post_to(url, timeout_ns, bearer_file);
}

#define LONG  60000000000u
#define SHORT 200000000u

TEST_WITH(posts_json, set_up, tear_down)
{
        struct server s;

        server_start(&s, base, HTTP_OK);
        struct http_result r = post(&s, LONG, NULL);
        assert_true(r.ok);
        assert_int_equal(r.status, 200);
        assert_string_equal(r.detail, "HTTP 200");
        assert_non_null(strstr(s.seen, "POST /hook/secret-path?x=1 HTTP/1.1\r\n"));
        assert_non_null(strstr(s.seen, "Content-Type: application/json\r\n"));
        assert_non_null(strstr(s.seen, "\r\n\r\n{\"a\":1}"));
        assert_null(strstr(s.seen, "Authorization"));
        server_stop(&s);
}

TEST_WITH(errors_are_told_and_sorted, set_up, tear_down)
{
        struct server s;
        struct http_result r;

        server_start(&s, base, HTTP_BUSY);
        r = post(&s, LONG, NULL);
        assert_false(r.ok);
        assert_true(r.again);
        assert_string_equal(r.detail, "HTTP 503: too busy");
        server_stop(&s);

        server_start(&s, base, HTTP_WRONG);
        r = post(&s, LONG, NULL);
        assert_false(r.ok || r.again);
        assert_string_equal(r.detail, "HTTP 400: wrong");
        server_stop(&s);

        server_start(&s, base, "HTTP/1.1 302 Go\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
        r = post(&s, LONG, NULL);
        assert_false(r.ok || r.again);
        assert_int_equal(r.status, 302);
        assert_string_equal(r.detail, "HTTP 302: redirects are not followed");
        assert_int_equal(s.requests, 1);
        server_stop(&s);
}

/* Any bytes, further headers, and what the server says of when to come again. */
TEST_WITH(bytes_headers_and_patience, set_up, tear_down)
{
        static const char *const more[] = { "X-One: 1", "Content-Encoding: snappy", NULL };
        struct http_post p = { .body = "a\0b", .size = 3, .type = "application/x-protobuf", .headers = more };
        char url[64], file[] = "/tmp/hw-basic-XXXXXX";
        struct seen seen = { .done = 0 };
        struct error error;
        struct server s;
        int fd = mkstemp(file);

        assert_int_equal(write(fd, "me:a word\n", 10), 10);
        server_start(&s, base, "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n");
        snprintf(url, sizeof(url), "http://127.0.0.1:%d/", s.port);
        p.url = url;
        p.basic_file = file;
        p.timeout_ns = LONG;
        assert_non_null(http_start(http, &p, on_done, &seen, &error));
        run_until(base, &seen.done, 1);
        assert_true(seen.result.again);
        assert_int_equal(seen.result.retry_after_ns, 7000000000u);
        assert_non_null(strstr(s.seen, "X-One: 1\r\nContent-Encoding: snappy\r\n"));
        assert_non_null(strstr(s.seen, "Authorization: Basic bWU6YSB3b3Jk\r\n"));
        assert_non_null(strstr(s.seen, "Content-Length: 3\r\n"));
        assert_memory_equal(strstr(s.seen, "\r\n\r\n") + 4, "a\0b", 3);
        server_stop(&s);
        close(fd);
        unlink(file);
}

TEST_WITH(slow_and_gone_servers, set_up, tear_down)
{
        struct server s;
        struct http_result r;

        server_start(&s, base, NULL);
        /* On a busy machine the request needs longer to arrive. */
        for (uint64_t patience = SHORT; s.requests == 0 && patience < LONG; patience *= 2) {
                uint64_t before = clock_mono_ns();

                r = post(&s, patience, NULL);
                assert_false(r.ok);
                assert_true(r.again);
                assert_true(clock_mono_ns() - before >= patience);
        }
        assert_int_equal(s.requests, 1);
        server_stop(&s);

        r = post(&s, LONG, NULL); /* nobody listens there any more */
        assert_false(r.ok);
        assert_true(r.again);
        assert_int_equal(r.status, 0);
        assert_true(strlen(r.detail) > 0);
        assert_null(strstr(r.detail, "secret-path"));
}

TEST_WITH(garbage_and_floods, set_up, tear_down)
{
        static const char *const answers[] = { "\x16\x03\x01garbage\r\n\r\n", "HTTP/9.9 abc\r\n\r\n",
                                               "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n" };
        struct server s;
        struct http_result r;

        for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
                server_start(&s, base, answers[i]);
                r = post(&s, SHORT, NULL);
                assert_false(r.ok && i < 2);
                assert_true(r.ok || r.again);
                assert_true(i > 0 || strstr(r.detail, "not HTTP/1: is this the port of another protocol"));
                server_stop(&s);
        }
        server_start(&s, base, "X-Flood: 0123456789012345678901234567890123456789\r\n");
        s.endless = true;
        s.answer = "HTTP/1.1 200 OK\r\n";
        r = post(&s, LONG, NULL);
        assert_false(r.ok);
        server_stop(&s);

        server_start(&s, base, "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n");
        s.endless = true;
        r = post(&s, LONG, NULL);
        assert_false(r.ok);
        assert_string_equal(r.detail, "the answer is longer than 65536 bytes");
        server_stop(&s);
}

TEST_WITH(names_that_do_not_resolve, set_up, tear_down)
{
        struct http_result r = post_to("http://no-such-host.invalid/x", SHORT, NULL);

        assert_false(r.ok);
        assert_int_equal(r.status, 0);
        r = post_to("file:///etc/passwd", LONG, NULL);
        assert_false(r.ok || r.again);
}

TEST_WITH(tokens_come_from_files, set_up, tear_down)
{
        char path[] = "/tmp/hw-token-XXXXXX";
        int fd = mkstemp(path);
        struct server s;

        server_start(&s, base, HTTP_OK);
        assert_int_equal(write(fd, "s3cret\n", 7), 7);
        assert_true(post(&s, LONG, path).ok);
        assert_non_null(strstr(s.seen, "Authorization: Bearer s3cret\r\n"));

        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, "a b\r\nX: y", 9, 0), 9);
        struct http_result r = post(&s, LONG, path);
        assert_false(r.ok);
        assert_non_null(strstr(r.detail, "expected one line with a token"));
        assert_null(strstr(r.detail, "a b"));

        assert_int_equal(fchmod(fd, 0644), 0);
        r = post(&s, LONG, path);
        assert_false(r.ok);
        assert_non_null(strstr(r.detail, "chmod 600"));
        close(fd);
        unlink(path);
        r = post(&s, LONG, path);
        assert_non_null(strstr(r.detail, "No such file"));
        r = post(&s, LONG, "/dev/zero");
        assert_false(r.ok);
        assert_int_equal(s.requests, 1);
        server_stop(&s);
}

TEST_WITH(requests_are_bounded_and_cancelled, set_up, tear_down)
{
        struct http_request *all[HTTP_REQUESTS_MAX];
        struct http_post p = { .body = "{}", .size = 2, .type = HTTP_JSON, .timeout_ns = LONG };
        struct seen seen = { .done = 0 };
        struct server s;
        struct error error;
        char url[64];

        server_start(&s, base, NULL);
        snprintf(url, sizeof(url), "http://127.0.0.1:%d/", s.port);
        p.url = url;
        for (size_t i = 0; i < HTTP_REQUESTS_MAX; i++)
                assert_non_null(all[i] = http_start(http, &p, on_done, &seen, &error));
        assert_null(http_start(http, &p, on_done, &seen, &error));
        assert_string_equal(error.text, "64 requests are under way");
        run_until(base, &s.requests, 1);
        for (size_t i = 1; i < HTTP_REQUESTS_MAX; i++)
                http_cancel(&all[i]);
        assert_int_equal(seen.done, 0);
        server_stop(&s); /* the last one is ended by tear_down */
}

static int begin_tests(void **state)
{
        signal(SIGPIPE, SIG_IGN);
        return 0;
}

TEST_GROUP(begin_tests, NULL)
