/* SPDX-License-Identifier: BSD-3-Clause */
/* answer.h - replies of the web server: common headers, JSON documents, errors in words. */
#pragma once

#include <event2/http.h>
#include <stdbool.h>
#include <stddef.h>

#include "proto/base/document.h"

/*
 * Answers 400 to a request that has twice what decides whose it is or where it ends: a proxy may have read the other
 * one (RFC 9112, 3.2 and 6.3). False: it has not.
 */
bool answer_ambiguous(struct evhttp_request *req);

/* The headers of every reply: what a browser may do with it. */
void answer_headers(struct evhttp_request *req);

/* Sends a document (500 when it could not be written) and releases it. */
void answer_text(struct evhttp_request *req, const char *type, struct document *d);

/* The same for a JSON document. */
void answer_document(struct evhttp_request *req, struct document *d);

/* {"error":"..."} */
void answer_error(struct evhttp_request *req, int status, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* 503: too much waits to be read by clients (connections_have_room()); with Retry-After. */
void answer_no_room(struct evhttp_request *req);

/* Bytes that live as long as the program. */
void answer_static(struct evhttp_request *req, const char *type, const void *bytes, size_t size);

/* A copy of `size` bytes of JSON. */
void answer_json(struct evhttp_request *req, const void *bytes, size_t size);
