/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xml.h - text in XML, as JUnit's files need it. Text is made printable first: XML 1.0 has no way to write control
 * characters.
 */
#ifndef HW_CLIENT_CLI_XML_H
#define HW_CLIENT_CLI_XML_H

#include <stdio.h>

void xml_text(FILE *out, const char *text);

/* ` name="text"` */
void xml_attribute(FILE *out, const char *name, const char *text);

#endif
