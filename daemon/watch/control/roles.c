/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/control/requests.h"

#include "daemon/log.h"
#include "daemon/publish/transport/admission.h"
#include "heapwatch/text.h"
#include "proto/base/error.h"

#define WHAT_MAX 200

enum key_role role_needed(const Hw__Request *request)
{
        switch (request->what_case) {
        case HW__REQUEST__WHAT_SNAPSHOT:
        case HW__REQUEST__WHAT_HISTORY:
        case HW__REQUEST__WHAT_STATUS:
        case HW__REQUEST__WHAT_SILENCES:
                return ROLE_READ;
        case HW__REQUEST__WHAT_RECORDING:
                return request->recording->has_seal && request->recording->seal ? ROLE_CONTROL : ROLE_READ;
        case HW__REQUEST__WHAT_SILENCE:
        case HW__REQUEST__WHAT_UNSILENCE:
                return ROLE_SILENCE;
        default:
                return ROLE_CONTROL;
        }
}

bool role_allows(const struct bus_client *client, const Hw__Request *request, struct error *error)
{
        const struct principal *principal = bus_client_principal(client);
        const enum key_role needed = role_needed(request);

        return principal->role >= needed ||
               error_set(error, "the key '%s' has the role %s; this needs %s (`heapwatch keys authorize` gives it)",
                         principal->name, role_name(principal->role), role_name(needed));
}

/* What it is about; "": all of the daemon. */
static const char *object_of(const Hw__Request *r)
{
        const char *text = NULL;

        switch (r->what_case) {
        case HW__REQUEST__WHAT_ADD_TARGET:
                text = r->add_target->name ? r->add_target->name : r->add_target->uri;
                break;
        case HW__REQUEST__WHAT_REMOVE_TARGET:
                text = r->remove_target->name;
                break;
        case HW__REQUEST__WHAT_END_TARGET:
                text = r->end_target->name;
                break;
        case HW__REQUEST__WHAT_PROGRAM:
                text = r->program->target;
                break;
        case HW__REQUEST__WHAT_SILENCE:
                text = r->silence->rule;
                break;
        case HW__REQUEST__WHAT_UNSILENCE:
                text = r->unsilence->rule;
                break;
        case HW__REQUEST__WHAT_RECORDING:
                text = r->recording->target;
                break;
        default:
                break;
        }
        return text ? text : "";
}

void role_audit(struct bus *bus, struct bus_client *client, const Hw__Request *request, bool allowed)
{
        const ProtobufCFieldDescriptor *what =
                protobuf_c_message_descriptor_get_field(&hw__request__descriptor, (unsigned)request->what_case);
        char object[WHAT_MAX];

        if (role_needed(request) == ROLE_READ)
                return;
        bus_count_control(bus, !allowed);
        (void)hw_terminal_text(object, sizeof(object), object_of(request));
        if (!allowed)
                log_warning("audit request=%s of='%s' by=%s outcome=forbidden", what ? what->name : "unknown", object,
                            bus_client_name(client));
        else
                log_info("audit request=%s of='%s' by=%s outcome=%s", what ? what->name : "unknown", object,
                         bus_client_name(client), bus_client_refused(client) ? "refused" : "done");
}
