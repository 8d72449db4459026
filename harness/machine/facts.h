/*
 * The machine object under construction: a field is set, or is null with an
 * entry in "unknown" that says why. Inside the room only.
 */
#ifndef STAVE_MACHINE_FACTS_H
#define STAVE_MACHINE_FACTS_H

#include <jansson.h>

/*
 * Put a value at a dotted path of at most two names; takes the value. NULL
 * (not valid text, no memory) becomes unknown.
 */
void sv_fact(json_t *machine, const char *path, json_t *take_value);
void sv_fact_unknown(json_t *machine, const char *path, const char *why);

/*
 * Collectors, each for its part of the object; root is "/" or a recording.
 */
void sv_facts_processor(json_t *machine, const char *root);
void sv_facts_memory(json_t *machine, const char *root);
void sv_facts_system(json_t *machine, const char *root);
void sv_facts_virtualisation(json_t *machine, const char *root);
void sv_facts_storage(json_t *machine, const char *root, const char *path);
void sv_facts_environment(json_t *machine);

#endif
