/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launch/attach/inject.h"

#if defined(__x86_64__)

#include <string.h>
#include <sys/syscall.h>

static void put(struct code *c, const char *bytes, size_t n)
{
        memcpy(c->bytes + c->size, bytes, n);
        c->size += n;
}

static void put_value(struct code *c, const char *opcode, uint64_t value)
{
        put(c, opcode, 2);
        memcpy(c->bytes + c->size, &value, sizeof(value));
        c->size += sizeof(value);
}

#define PUT(c, text) put(c, text, sizeof(text) - 1)
#define MOV_RAX      "\x48\xb8"
#define MOV_RDI      "\x48\xbf"
#define MOV_RSI      "\x48\xbe"
#define MOV_RDX      "\x48\xba"
#define MOV_R11      "\x49\xbb"
#define CALL_RAX     "\xff\xd0"

/* A jump to the end if rax is 0; returns where to put its distance. */
static size_t jump_if_zero(struct code *c)
{
        PUT(c,
            "\x48\x85\xc0"
            "\x74\x00");
        return c->size - 1;
}

/* Loads the registers and jumps where they say; rcx and r11 are free after a system call. */
static void put_return(struct code *c, const struct user_regs_struct *r)
{
        put_value(c, MOV_RAX, r->rax);
        put_value(c, MOV_RDX, r->rdx);
        put_value(c, "\x48\xbb", r->rbx);
        put_value(c, "\x48\xbc", r->rsp);
        put_value(c, "\x48\xbd", r->rbp);
        put_value(c, MOV_RSI, r->rsi);
        put_value(c, MOV_RDI, r->rdi);
        put_value(c, "\x49\xb8", r->r8);
        put_value(c, "\x49\xb9", r->r9);
        put_value(c, "\x49\xba", r->r10);
        put_value(c, "\x49\xbc", r->r12);
        put_value(c, "\x49\xbd", r->r13);
        put_value(c, "\x49\xbe", r->r14);
        put_value(c, "\x49\xbf", r->r15);
        put_value(c, MOV_R11, r->rip);
        PUT(c, "\x41\xff\xe3"); /* jmp r11 */
}

struct code code_make(const struct code_addresses *a, const struct user_regs_struct *back)
{
        struct code c = { .size = 0 };
        size_t no_library, no_entry;

        PUT(&c, "\x4d\x31\xe4"); /* xor r12, r12 */
        put_value(&c, MOV_RDI, a->library);
        put_value(&c, MOV_RSI, 2 /* RTLD_NOW */);
        put_value(&c, MOV_RAX, a->loader.dlopen_at);
        PUT(&c, CALL_RAX "\x49\x89\xc4"); /* mov r12, rax */
        no_library = jump_if_zero(&c);
        PUT(&c, "\x48\x89\xc7"); /* mov rdi, rax */
        put_value(&c, MOV_RSI, a->entry);
        put_value(&c, MOV_RAX, a->loader.dlsym_at);
        PUT(&c, CALL_RAX);
        no_entry = jump_if_zero(&c);
        put_value(&c, MOV_RDI, a->settings);
        put_value(&c, MOV_RSI, a->said);
        put_value(&c, MOV_RDX, a->said_bytes);
        PUT(&c, CALL_RAX);
        c.bytes[no_library] = (uint8_t)(c.size - no_library - 1);
        c.bytes[no_entry] = (uint8_t)(c.size - no_entry - 1);
        PUT(&c, "\x48\x89\xc6"); /* mov rsi, rax */
        PUT(&c, "\x4c\x89\xe2"); /* mov rdx, r12 */
        put_value(&c, MOV_RDI, CODE_MAGIC);
        put_value(&c, MOV_RAX, SYS_getpid);
        PUT(&c, "\x0f\x05"); /* syscall; what follows is reached only if nobody takes the thread back there */
        put_return(&c, back);
        return c;
}

#endif
