/* SPDX-License-Identifier: MIT */
#include "validate/fault.h"

#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

static struct fault *note;

static enum fault_access access_of(const void *context)
{
#ifdef __x86_64__
    const ucontext_t *c = context;
    return c->uc_mcontext.gregs[REG_ERR] & 2 ? FAULT_WRITE : FAULT_READ;
#else
    (void)context;
    return FAULT_TOUCH;
#endif
}

/* On return the same instruction faults again, without this handler. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    signal(number, SIG_DFL);
    if (info->si_code <= 0) { /* sent by somebody: nothing will repeat it */
        raise(number);
        return;
    }
    note->address = (uintptr_t)info->si_addr;
    note->access = access_of(context);
    note->seen = true;
}

void fault_watch(struct fault *shared)
{
    static _Alignas(16) char stack[16384];
    const stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction action = { .sa_sigaction = on_fault,
                                .sa_flags = SA_SIGINFO | SA_ONSTACK };
    note = shared;
    sigaltstack(&own, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

const char *fault_verb(enum fault_access access)
{
    static const char *const verbs[] = { "read", "wrote", "touched" };
    return verbs[access];
}
