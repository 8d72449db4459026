/*
 * An object of facts under construction: a field is set, or is null with an
 * entry in "unknown" that says why. Inside the room only.
 */
#ifndef STAVE_FACTS_H
#define STAVE_FACTS_H

#include <jansson.h>

#include "sources.h"

/*
 * Put a value at a dotted path; takes the value. NULL (not valid text, no
 * memory) becomes unknown.
 */
void sv_fact(json_t *object, const char *path, json_t *take_value);
void sv_fact_unknown(json_t *object, const char *path, const char *why);
/* As either: why NULL for a known value. */
void sv_fact_or(
    json_t *object, const char *path, const char *why, json_t *take_value);
/* Take back the reason for a field that has become known. */
void sv_fact_known(json_t *object, const char *path);

/* What one file says, as text, number or choice in brackets. */
void sv_fact_text(
    json_t *object, const char *field, struct sv_sources *, const char *path);
void sv_fact_number(json_t *object, const char *field, struct sv_sources *,
    const char *path, double scale);
void sv_fact_choice(
    json_t *object, const char *field, struct sv_sources *, const char *path);

/* Collectors, each for its part of the machine object. */
void sv_facts_processor(json_t *machine, struct sv_sources *);
void sv_facts_memory(json_t *machine, struct sv_sources *);
void sv_facts_system(json_t *machine, struct sv_sources *);
void sv_facts_board(json_t *machine, struct sv_sources *);
void sv_facts_virtualisation(json_t *machine, struct sv_sources *);
void sv_facts_storage(
    json_t *machine, struct sv_sources *, const char *storage_path);
void sv_facts_environment(json_t *machine, struct sv_sources *);

/*
 * The tightest limit that a file of the process' control group, or of one
 * above it, states: v2 and v1 names of the file. NULL and *out, or why not;
 * "absent" also where no group limits anything. For cpu.max the first number
 * over the second.
 */
const char *sv_group_limit(struct sv_sources *, const char *v2_file,
    const char *v1_controller, const char *v1_file, double *out);

#endif
