/* SPDX-License-Identifier: BSD-3-Clause */
/* What libzmq asks is read whole or refused, and never believed in part. */
#include <string.h>

#include "tests/unit/test.h"

#include "daemon/publish/transport/admission.h"

static const char key[KEY_BYTES + 1] = "0123456789abcdef0123456789abcdef";

#define FRAME(text)                                                                                                    \
        {                                                                                                              \
                text, sizeof(text) - 1                                                                                 \
        }
#define QUESTION                                                                                                       \
        {                                                                                                              \
                FRAME("1.0"), FRAME("17"), FRAME(""), FRAME("localhost:0:0:7"), FRAME("\1\0\0\0\0\0\0\0"),             \
                        FRAME("CURVE"),                                                                                \
                {                                                                                                      \
                        key, KEY_BYTES                                                                                 \
                }                                                                                                      \
        }

TEST(test_a_question)
{
        const struct zap_frame frames[] = QUESTION;
        struct zap_request r;

        assert_null(zap_read(frames, 7, &r));
        assert_int_equal(r.connection, 1);
        assert_memory_equal(r.public, key, KEY_BYTES);
        assert_memory_equal(r.id, "17", r.n_id);
}

TEST(test_each_cut)
{
        const struct zap_frame frames[] = QUESTION;
        struct zap_request r;

        for (size_t n = 0; n < 7; n++) {
                assert_non_null(zap_read(frames, n, &r));
                assert_true((r.id != NULL) == (n > 1)); /* then it can be answered */
        }
}

TEST(test_wrong_frames)
{
        static const struct {
                size_t at;
                struct zap_frame frame;
        } wrong[] = {
                { 0, FRAME("2.0") }, { 0, FRAME("") },  { 5, FRAME("NULL") },   { 5, FRAME("PLAIN") },
                { 4, FRAME("") },    { 4, FRAME("1") }, { 5, FRAME("CURVE ") }, { 6, { key, KEY_BYTES - 1 } },
        };
        struct zap_request r;

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                struct zap_frame frames[] = QUESTION;
                frames[wrong[i].at] = wrong[i].frame;
                assert_non_null(zap_read(frames, 7, &r));
        }
}
