/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/control/requests.h"

#include "daemon/publish/encode.h"
#include "daemon/record/recorder.h"
#include "daemon/record/recording.h"
#include "daemon/watch/targets/pipeline.h"
#include "proto/base/error.h"

/*
 * The recording of the requested target; *ret NULL: what there is of it is on disk already, maybe from a daemon before
 * this one. False: the request has been refused.
 */
static bool find(struct targets *targets, const char *name, struct bus_client *client, struct recording **ret)
{
        struct pipeline *p = targets_find(targets, name);
        struct error error;

        *ret = p ? pipeline_recording(p) : NULL;
        if (*ret || !p || pipeline_is_kept(p))
                return true;
        error_set(&error,
                  "target '%s' is not recorded: it was added with --no-record, or its entry in the "
                  "configuration has record: false",
                  name);
        reply_error(client, error.text);
        return false;
}

void recording_requests_handle(struct recorder *recorder, struct targets *targets, const Hw__RecordingRequest *request,
                               struct bus_client *client)
{
        Hw__Reply reply = HW__REPLY__INIT;
        Hw__RecordingReply body = HW__RECORDING_REPLY__INIT;
        struct recording *recording = NULL;
        char why[PAUSE_DETAIL_BYTES];

        if (!recorder) {
                reply_error(client, "this daemon records nothing; start it with --record DIR");
                return;
        }
        if (request->target && !find(targets, request->target, client, &recording))
                return;
        body.directory = (char *)recorder_directory(recorder);
        PUT(&body, written, recorder_written(recorder));
        if (request->seal && recording)
                PUT(&body, sealed, recording_seal(recording));
        if (recorder_is_paused(recorder, why))
                body.paused = why;
        reply.what_case = HW__REPLY__WHAT_RECORDING;
        reply.recording = &body;
        bus_reply(client, &reply);
}
