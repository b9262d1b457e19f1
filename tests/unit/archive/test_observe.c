/* SPDX-License-Identifier: BSD-3-Clause */
/* test_observe.c - what the archive keeps of the messages of a run. */
#include "tests/unit/test.h"

#include "client/past/archive/observe.h"
#include "proto/base/time.h"
#include "proto/facts/facts.h"

#define TIMES 3

/* All of proto/facts/series.def but the total of a census, which comes with the census. */
TEST(every_series_is_kept)
{
        for (enum series_id id = 1; id < SERIES_COUNT; id++) {
                struct observed *o = observed_new(0, "api", 1);
                const bool total = series_rows[id].kind == SERIES_TOTAL;

                assert_non_null(o);
                o->start_ns = NS_PER_S;
                /* Three samples of one series, a second apart, in one message. */
                uint64_t times_ns[TIMES] = { NS_PER_S, 2 * NS_PER_S, 3 * NS_PER_S }, values[TIMES] = { 5, 7, 9 };
                Hw__Samples samples = HW__SAMPLES__INIT, *list[] = { &samples };
                Hw__Heap heap = HW__HEAP__INIT;
                Hw__Update update = HW__UPDATE__INIT;

                SET(samples, series, (Hw__Series)id);
                samples.n_times_ns = samples.n_values = TIMES;
                samples.times_ns = times_ns;
                samples.values = values;
                SET_LIST(heap, samples, list, 1);
                update.body_case = HW__UPDATE__BODY_HEAP;
                update.heap = &heap;
                observed_add(o, NULL, &update);
                assert_int_equal(o->pending.minutes.n, id != SERIES_CENSUS_TOTAL);
                if (id != SERIES_CENSUS_TOTAL) {
                        const struct pending_cell *m = &o->pending.minutes.items[0];
                        assert_int_equal(m->key.of, id);
                        assert_int_equal(m->cell.n, total ? 0 : TIMES);
                        assert_true(total ? m->rise >= 4 : m->cell.max >= 9 && m->cell.min <= 5);
                }
                observed_destroy(&o);
        }
}
