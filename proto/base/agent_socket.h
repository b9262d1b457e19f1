/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent_socket.h - the names of an agent's socket, by which its clients find it and know that a log comes from one, and
 * how messages of heapwatch's own in a log begin.
 */
#pragma once

#define AGENT_SOCKET_NAME   "agent-%ld.sock" /* of a process; for printf and scanf */
#define AGENT_SOCKET_OF_RUN "agent"          /* in the private directory of a program that `heapwatch run` started */

#define AGENT_SAYS   "heapwatch-agent: "
#define AGENT_ANSWER AGENT_SAYS "answer " /* to a request, with its number */

/* How a log message begins that tells how the run ended; it is added where a log is cut from a recording. */
#define RUN_END_MESSAGE "heapwatch end 1\n"

/* The variable, a u32, by which whoever reads the program sees which censuses its agent accepts (agent/given.c). */
#define AGENT_ACCEPTS_CENSUSES "heapwatch_agent_accepts_censuses"
#define AGENT_ACCEPTS_SAMPLES  2 /* also estimated ones; less, but not 0: none but whole ones */
#define AGENT_ACCEPTS_THREADS  3 /* and those that tell threads */

/*
 * The period of a heap profile (HEAP_PROF_BEGIN) whose censuses the agent requests. It is not 0, which a program with
 * -i0 has: a census at every collection.
 */
#define AGENT_CENSUS_PERIOD_NS UINT64_C(0x7fffffffffffffff)

#define AGENT_NO_CENSUS "no census: " /* after AGENT_SAYS: why none is made, until there is one again */
