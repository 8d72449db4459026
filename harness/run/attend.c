/* The loop around one worker; see the header. */
#include "attend.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "child.h"

/* How often to look for the end where the kernel cannot tell it. */
#define LOOK_EVERY_MS 20
/* Reads of one descriptor before the others get their turn. */
#define READS_A_TURN  16

uint64_t sv_monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t sv_deadline_ns(double seconds)
{
	return sv_monotonic_ns() + (uint64_t)(seconds * 1e9);
}

struct attending {
	struct sv_attendance *a;
	struct sv_child child;
	size_t n_tail;
	bool refused, closed;
	struct sv_err *err;
};

/* Keep the last bytes of the log. */
static void keep_tail(struct attending *s, const char *bytes, size_t n)
{
	size_t keep;

	if (n > SV_LOG_TAIL_BYTES) {
		bytes += n - SV_LOG_TAIL_BYTES;
		n = SV_LOG_TAIL_BYTES;
	}
	keep = SV_LOG_TAIL_BYTES - n < s->n_tail ? SV_LOG_TAIL_BYTES - n
						 : s->n_tail;
	memmove(s->a->tail, s->a->tail + s->n_tail - keep, keep);
	memcpy(s->a->tail + keep, bytes, n);
	s->n_tail = keep + n;
}

/* The tail as text that JSON can hold. */
static void clean_tail(struct attending *s)
{
	json_t *text;

	s->a->tail[s->n_tail] = '\0';
	for (size_t i = 0; i < s->n_tail; i++)
		if (s->a->tail[i] == '\0')
			s->a->tail[i] = '?';
	text = json_string(s->a->tail);
	if (text == NULL)
		for (size_t i = 0; i < s->n_tail; i++)
			if ((unsigned char)s->a->tail[i] >= 0x80)
				s->a->tail[i] = '?';
	json_decref(text);
}

/*
 * Read what there is, up to `reads` times (0: all that is there). Closes and
 * forgets the descriptor at its end.
 */
static void drain(struct attending *s, int *fd, bool wire, int reads)
{
	char bytes[65536];

	for (int i = 0; *fd >= 0 && !s->refused && (reads == 0 || i < reads);
	     i++) {
		ssize_t n = read(*fd, bytes, sizeof bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n <= 0) {
			close(*fd);
			*fd = -1;
			return;
		}
		if (wire) {
			s->refused = s->a->take(s->a->state, bytes, (size_t)n,
					 s->err) != 0;
			continue;
		}
		keep_tail(s, bytes, (size_t)n);
		if (s->a->log != NULL)
			s->a->log(s->a->state, bytes, (size_t)n);
	}
}

static int wait_ms(const struct attending *s)
{
	uint64_t now = sv_monotonic_ns();
	uint64_t left = s->a->deadline_ns > now
			    ? (s->a->deadline_ns - now + 999999) / 1000000
			    : 0;

	if ((s->child.exit_fd < 0 || s->a->tick != NULL) &&
	    left > LOOK_EVERY_MS)
		return LOOK_EVERY_MS;
	return left < 60000 ? (int)left : 60000;
}

/* One turn of the loop; true when it is over, with the end set. */
static bool turn(struct attending *s)
{
	struct pollfd fds[] = {{s->child.wire_fd, POLLIN, 0},
	    {s->child.log_fd, POLLIN, 0}, {s->child.exit_fd, POLLIN, 0},
	    {s->a->signal_fd, POLLIN, 0}};

	if (poll(fds, 4, wait_ms(s)) < 0 && errno != EINTR)
		return false;
	if (s->a->tick != NULL)
		s->a->tick(s->a->tick_data);
	if (fds[3].revents != 0) {
		s->a->end = SV_ATTEND_SIGNAL;
		return true;
	}
	bool ended = sv_child_ended(&s->child);

	/*
	 * After its end all that it wrote is in the pipes; a grandchild that
	 * keeps them open and goes on writing is given no more than that.
	 */
	drain(s, &s->child.wire_fd, true, ended ? 0 : READS_A_TURN);
	drain(s, &s->child.log_fd, false, READS_A_TURN);
	s->a->end = s->refused ? SV_ATTEND_REFUSED : SV_ATTEND_EXIT;
	if (s->refused || ended)
		return true;
	if (s->child.wire_fd < 0 && !s->closed) {
		/* It may be about to end: give it a moment to do so. */
		s->closed = true;
		if (s->a->deadline_ns > sv_deadline_ns(1.0))
			s->a->deadline_ns = sv_deadline_ns(1.0);
	}
	if (sv_monotonic_ns() < s->a->deadline_ns)
		return false;
	s->a->end = s->closed ? SV_ATTEND_CLOSED : SV_ATTEND_TIMEOUT;
	return true;
}

int sv_attend(struct sv_attendance *a, struct sv_err *err)
{
	struct attending s = {.a = a, .err = err};
	int code = sv_spawn(a->path, a->argv, &s.child, err);

	a->tail[0] = '\0';
	if (code != 0)
		return code;
	while (!turn(&s))
		continue;
	sv_child_finish(&s.child);
	a->status = s.child.status;
	clean_tail(&s);
	return 0;
}
