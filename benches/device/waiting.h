/* How the host backend waits; shared by its files. */
#ifndef STAVE_WAITING_H
#define STAVE_WAITING_H

#define SV_MAX_TEAM 256

/*
 * Spins before a waiting thread goes to sleep: some 50 µs, about what waking
 * it up again costs.
 */
#define HOST_SPINS 2000u

/* Tell the core that this is a waiting loop. */
static inline void host_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif
