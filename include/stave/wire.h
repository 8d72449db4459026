/*
 * The wire between harness and worker: one JSON object a line, UTF-8, written
 * by the worker to file descriptor 3. stdout and stderr are the worker's log.
 *
 * A worker is called as
 *
 *   stave-worker-B describe                      benchmarks of this build
 *   stave-worker-B devices                       devices, usable or why not
 *   stave-worker-B plan  [--device SEL] [--profile P] [--storage-path DIR]
 *                        [--task TASK]…          cases that can run here
 *   stave-worker-B BENCH [--device SEL] [--profile P] [--round N] [--seed N]
 *                        [--storage-path DIR] [--task TASK]… [--timeline]
 *                        CASE[@INNER]…           measure these, in this order
 *
 * TASK: stave/task.h. --timeline: spans of a few iterations of each case that
 * has them, taken after its samples.
 *
 * Messages, by their "type":
 *
 *   hello     protocol, pid, backend, version (of stave); then
 *             describe: benches [{name, question, source,
 *                         metrics: [{name, unit, better, summary}],
 *                         groups: [{metrics: [names],
 *                                   axes: [{name, values: [{value,
 * level}]}]}]}] devices:  devices [{index, name, uuid, pci_address, usable,
 *                         reason}]
 *             plan, BENCH: device (the result file's device object),
 *                         device.unknown included
 *   case      id, bench, params; plan: also metrics [names],
 *             bytes, flop (per iteration, 0 where it means nothing), files,
 *             optional: true where it measures with files in DIR.
 *             BENCH: what follows belongs to this case, until the next
 *             case or bye
 *   progress  done (0…1), optional
 *   samples   metric, unit, better, inner (iterations a sample holds),
 *             values [numbers in unit], reference null | {value, what},
 *             flags [strings], stop (why sampling ended), state, optional:
 *             {before, during: [objects], after}, what the device was doing
 *             (device.h, state)
 *   check     status "pass" | "fail" | "none", detail
 *   spans     spans [[name, track, start in s, duration in s]], tracks being
 *             host, device and copy
 *   skip      id, bench, params, reason, code (SV_SKIP_*): cannot run here
 *   error     reason, code (SV_FAIL_*): this case failed, the next may work
 *   bye       the worker ended as it meant to; lost, optional: true where
 *             its device is lost to it, so that the cases that were not
 *             announced need a fresh process
 *
 * A case id is `bench/metric?k=v&…`, keys sorted; a case that yields several
 * metrics joins their names with `+`. A case is finished when the next case
 * or bye has arrived: a worker that dies while it verifies voids the case.
 */
#ifndef STAVE_WIRE_H
#define STAVE_WIRE_H

#define SV_WIRE_PROTOCOL 1
#define SV_WIRE_FD	 3

/* Longest line a reader accepts, and most sample values in one message. */
#define SV_WIRE_MAX_LINE_BYTES (4u << 20)
#define SV_WIRE_MAX_SAMPLES    8192u

/* Codes of a skip. Only the last two count as a fault (exit 5). */
#define SV_SKIP_UNSUPPORTED   "unsupported"
#define SV_SKIP_NO_PERMISSION "no_permission"
#define SV_SKIP_NO_MEMORY     "no_memory"
#define SV_SKIP_FAULT	      "fault"

#endif
