/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor_unit.h - `heapwatch doctor --systemd`. */
#ifndef HW_CLIENT_COMMANDS_DOCTOR_UNIT_H
#define HW_CLIENT_COMMANDS_DOCTOR_UNIT_H

/* Prints the drop-in that puts the agent before the service `unit`. Returns the exit status. */
int doctor_unit(const char *unit);

#endif
