/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/labels.h"

#include <stdint.h>
#include <string.h>

#include "proto/base/error.h"
#include "proto/base/utf8.h"

#define NAME_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/"

static bool is_printable(const char *text, size_t n)
{
        while (n > 0) {
                uint32_t code = 0;
                size_t length = utf8_decode(text, n, &code);

                if (length == 0 || utf8_is_control(code))
                        return false;
                text += length;
                n -= length;
        }
        return true;
}

static bool is_named_again(const char *const *labels, size_t n, const char *label, size_t name)
{
        for (size_t i = 0; i < n; i++)
                if (!strncmp(labels[i], label, name + 1))
                        return true;
        return false;
}

/* Says what is wrong with the last of n labels. */
static bool check(const char *const *labels, size_t n, struct error *error)
{
        const char *label = labels[n - 1];
        size_t name = strspn(label, NAME_LETTERS), value;

        if (name == 0 || label[name] != '=' || !label[name + 1])
                return error_set(error,
                                 "label '%.80s': expected NAME=VALUE, such as version=1.4.2; NAME is of A-Z a-z "
                                 "0-9 . _ - /",
                                 label);
        value = strlen(label + name + 1);
        if (name > LABEL_NAME_MOST || value > LABEL_VALUE_MOST)
                return error_set(error, "label '%.80s...': a name has at most %d bytes, a value %d", label,
                                 LABEL_NAME_MOST, LABEL_VALUE_MOST);
        if (!is_printable(label + name + 1, value))
                return error_set(error, "label '%.*s': its value is not printable text", (int)name, label);
        if (is_named_again(labels, n - 1, label, name))
                return error_set(error, "label '%.*s' is given twice", (int)name, label);
        return true;
}

bool labels_join(const char *const *labels, size_t n, char ret_text[LABELS_SIZE], struct error *error)
{
        size_t used = 0;

        ret_text[0] = '\0';
        if (n > LABELS_MOST)
                return error_set(error, "%zu labels: at most %d can be given", n, LABELS_MOST);
        for (size_t i = 0; i < n; i++) {
                if (!check(labels, i + 1, error))
                        return false;
                size_t length = strlen(labels[i]);
                if (length + 2 > LABELS_SIZE - used)
                        return error_set(error, "label '%.80s': all labels together have at most %d bytes", labels[i],
                                         LABELS_SIZE - 1);
                memcpy(ret_text + used, labels[i], length);
                used += length;
                ret_text[used++] = '\n';
                ret_text[used] = '\0';
        }
        return true;
}

const char *labels_next(const char **at, size_t *ret_n)
{
        const char *label = *at, *end;

        if (!label || !*label)
                return NULL;
        end = strchrnul(label, '\n');
        *ret_n = (size_t)(end - label);
        *at = *end ? end + 1 : end;
        return label;
}
