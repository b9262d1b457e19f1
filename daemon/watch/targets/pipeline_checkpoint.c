/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/targets/pipeline_checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/watch/alerting/alerting.h"
#include "daemon/model/image/containers.h"
#include "daemon/model/image/image.h"
#include "daemon/source/loop/shutdown.h"
#include "daemon/model/model.h"
#include "daemon/watch/targets/pipeline_internal.h"
#include "daemon/judge/trend/tracker.h"
#include "proto/base/clock.h"

#include "daemon/watch/targets/pipeline_checkpoint_layouts.inc"

static struct pipeline_state save_state(const struct pipeline *p)
{
        struct pipeline_state s = p->state;

        s.has_decoder = p->decoder != NULL;
        s.has_alerting = p->alerting != NULL;
        s.published = publisher_run(p->publisher);
        s.recorded_as[0] = '\0';
        if (p->recording) {
                struct recording_state state;

                recording_state(p->recording, &state);
                s.recorded = recording_begin_ns(p->recording);
                (void)snprintf(s.recorded_as, sizeof(s.recorded_as), "%s", recording_target(p->recording));
                s.recorded_counts = (struct recording_counts){ state.bytes, state.lost_bytes, state.lost_frames };
        }
        if (p->source)
                source_position(p->source, &s.position);
        return s;
}

/* NAME itself, or as NAME~1 a previous run, which was recorded under the name. */
static bool is_recorded_as(const struct pipeline *p, const char name[TARGET_NAME_MAX + 1])
{
        size_t n = strnlen(name, TARGET_NAME_MAX + 1);

        return n > 0 && n <= TARGET_NAME_MAX && !strncmp(p->name, name, n) && (!p->name[n] || p->name[n] == '~');
}

static void restore_state(struct pipeline *p, const struct pipeline_state *s)
{
        const char *root = p->state.process.root;

        p->state = *s;
        p->state.detail[sizeof(p->state.detail) - 1] = '\0';
        p->state.why.text[sizeof(p->state.why.text) - 1] = '\0';
        p->state.process.root = root;
        p->state.process.oom_file[sizeof(p->state.process.oom_file) - 1] = '\0';
        if (!process_watch_alive(&p->state.process, s->process.pid, UNKNOWN_U64))
                p->state.clock_offset_ns = 0; /* the machine may have been booted meanwhile */
        for (size_t i = 0; i < s->damages.n; i++)
                p->state.damages.places[i].reason = "it was before the daemon was started again";
        p->last_bytes_mono_ns = p->shut_mono_ns = clock_mono_ns();
        if (p->recording && is_recorded_as(p, s->recorded_as))
                recording_recall(p->recording, s->recorded_as, s->recorded, s->recorded_counts);
}

static bool is_sound(const struct pipeline_state *s)
{
        return s->damages.n <= LIMIT_DAMAGES && s->life < LIFE_STATES && s->life != LIFE_ENDING &&
               (s->runs > 0 || !life_in_run(s->life));
}

/* The states of the stages, which follow the pipeline's own; writes or reads. */
static void image_stages(struct image *im, struct pipeline *p, bool has_alerting)
{
        if (p->decoder)
                image_decoder(im, p->decoder);
        model_image(im, p->model, p->show_arguments);
        tracker_image(im, p->tracker);
        if (has_alerting && p->alerting)
                alerting_image(im, p->alerting);
}

uint8_t *pipeline_checkpoint(struct pipeline *p, bool last, size_t *ret_size)
{
        struct checkpoint_target head = { .resolution_ns = p->resolution_ns,
                                          .one_run = p->one_run,
                                          .no_record = p->no_record,
                                          .kept = p->state.kept,
                                          .last = last };
        size_t expected = pipeline_held_bytes(p);
        struct image im;

        while (pipeline_is_busy(p) && shutdown_left_ns(STOP_COPIES) > 0) /* only then, see pipeline_is_dirty */
                (void)pipeline_resume(p);
        if (pipeline_is_busy(p))
                return NULL;
        struct pipeline_state state = save_state(p);
        memcpy(head.name, p->name, sizeof(head.name));
        memcpy(head.uri, p->uri.text, sizeof(head.uri));
        (void)snprintf(head.labels, sizeof(head.labels), "%s", p->labels ? p->labels : "");
        memcpy(head.process_only_reason, p->process_only_reason, sizeof(head.process_only_reason));
        image_write(&im, expected + expected / 8);
        image_struct(&im, &head, IMAGE_TYPE(checkpoint_target));
        image_struct(&im, &state, IMAGE_TYPE(pipeline_state));
        image_stages(&im, p, p->alerting != NULL);
        uint8_t *bytes = image_detach(&im, ret_size);
        image_done(&im);
        p->checkpoint_mono_ns = clock_mono_ns();
        p->checkpoint_state_ns = p->state.state_since_wall_ns;
        return bytes;
}

bool pipeline_is_dirty(const struct pipeline *p)
{
        if (pipeline_is_busy(p))
                return false; /* in the middle of a moment that will soon be over */
        return p->checkpoint_mono_ns == 0 || pipeline_in_run(p) || p->state.life == LIFE_LOST ||
               p->checkpoint_state_ns != p->state.state_since_wall_ns || p->last_bytes_mono_ns > p->checkpoint_mono_ns;
}

bool pipeline_end_is_dirty(const struct pipeline *p)
{
        return life_is_over(p->state.life) && p->checkpoint_state_ns != p->state.state_since_wall_ns &&
               pipeline_is_dirty(p);
}

uint64_t pipeline_checkpoint_mono_ns(const struct pipeline *p)
{
        return p->checkpoint_mono_ns;
}

bool checkpoint_target_read(const uint8_t *image, size_t n, struct checkpoint_target *ret)
{
        struct image im;

        *ret = (struct checkpoint_target){ .last = false };
        image_read(&im, image, n);
        image_struct(&im, ret, IMAGE_TYPE(checkpoint_target));
        bool good = image_fine(&im);
        image_done(&im);
        ret->uri[sizeof(ret->uri) - 1] = ret->name[sizeof(ret->name) - 1] = '\0';
        ret->labels[sizeof(ret->labels) - 1] = '\0';
        ret->process_only_reason[sizeof(ret->process_only_reason) - 1] = '\0';
        return good && (target_name_valid(ret->name) || strchr(ret->name, '~'));
}

bool pipeline_is_of(const struct pipeline *p, const uint8_t *image, size_t n, struct error *error)
{
        struct checkpoint_target head;

        if (!checkpoint_target_read(image, n, &head) || !strcmp(head.uri, p->uri.text))
                return true;
        return error_set(error, "of another source, %.200s", head.uri);
}

bool pipeline_restore(struct pipeline *p, const uint8_t *image, size_t n, bool *ret_exact, struct error *error)
{
        struct checkpoint_target head;
        struct pipeline_state state = { .runs = 0 };
        struct image im;

        if (!checkpoint_target_read(image, n, &head))
                return error_set(error, "it ends too early");
        if (!pipeline_is_of(p, image, n, error))
                return false;
        image_read(&im, image, n);
        image_struct(&im, &head, IMAGE_TYPE(checkpoint_target));
        image_struct(&im, &state, IMAGE_TYPE(pipeline_state));
        if (!is_sound(&state))
                image_refuse(&im, "numbers in it contradict each other");
        if (image_fine(&im) && !state.has_decoder) /* a run set aside (run_before.c) is no longer read or judged */
                hw_eventlog_destroy(&p->decoder);
        if (image_fine(&im) && state.kept && !state.has_alerting) {
                alerting_destroy(&p->alerting);
                pipeline_wire(p);
        }
        image_stages(&im, p, state.has_alerting);
        if (image_fine(&im) && state.has_alerting == (p->alerting != NULL) && im.at != im.n)
                image_refuse(&im, "there is more after its end");
        if (!image_fine(&im))
                (void)error_set(error, "%s", im.trouble);
        bool good = image_fine(&im);
        image_done(&im);
        if (!good)
                return false;
        restore_state(p, &state);
        *ret_exact = head.last;
        publisher_resume_run(p->publisher, state.published);
        return true;
}

void pipeline_resume_run(struct pipeline *p, bool exact)
{
        const bool same_file = p->uri.kind == SOURCE_FILE && p->state.position.known;
        const bool nothing_missed = same_file || (p->uri.kind == SOURCE_FIFO && exact);

        pipeline_check_clock(p);
        if (!pipeline_in_run(p)) {
                if (p->decoder && !nothing_missed) /* else even a header that was cut goes on */
                        hw_eventlog_reset(p->decoder);
                if (!p->state.kept)
                        pipeline_happens_now(p, ON_RESTARTED, NULL);
                return;
        }
        if (p->uri.kind == SOURCE_FILE && !same_file) {
                pipeline_finish_stream(p, "the daemon was restarted, and its file was not open then");
                return;
        }
        if (p->uri.kind == SOURCE_PROCESS) { /* its source says whether it is still there */
                pipeline_publish_state(p);
                return;
        }
        if (p->uri.kind != SOURCE_FILE && p->uri.kind != SOURCE_FIFO) {
                pipeline_lose_run(p, "the daemon was started again");
                return;
        }
        if (nothing_missed)
                pipeline_happens_now(p, ON_RESTARTED, NULL);
        else
                pipeline_miss(p);
        if (p->recording)
                recording_resume(p->recording, p->decoder, nothing_missed, clock_wall_ns());
        pipeline_publish_state(p);
}
