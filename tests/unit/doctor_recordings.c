/*
 * The training checklist on other people's machines, as recordings: what
 * their expect.json says of checks must come out.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "checklist.h"
#include "cmocka_all.h"
#include "machine.h"

#define FIXTURES SV_TEST_FIXTURES "/machines"

/* A recording as a result without measurements; the caller frees. */
static struct sv_result *look(const char *folder)
{
	struct sv_result *r = sv_result_new();
	struct sv_machine *m;
	struct sv_err err;

	assert_non_null(r);
	if (sv_machine_open_recording(folder, &m, &err) != 0)
		fail_msg("%s", err.text);
	json_decref(r->machine);
	json_decref(r->device);
	r->machine = json_incref(sv_machine_json(m));
	r->device = sv_machine_device(m) != NULL
			? json_deep_copy(sv_machine_device(m))
			: json_pack("{s:s}", "backend", "host");
	sv_machine_complete(m, r->device);
	sv_machine_close(m);
	return r;
}

static size_t check(const char *name, size_t *checked)
{
	char folder[512], path[600];
	struct sv_checklist list;
	struct sv_err err;
	struct sv_result *r;
	json_t *expect, *status;
	const char *code;
	size_t wrong = 0;

	snprintf(folder, sizeof folder, "%s/%s", FIXTURES, name);
	snprintf(path, sizeof path, "%s/expect.json", folder);
	expect = json_load_file(path, 0, NULL);
	assert_non_null(expect);
	r = look(folder);
	assert_int_equal(sv_checklist_doctor(r, &list, &err), 0);
	json_object_foreach (json_object_get(expect, "doctor"), code, status) {
		const struct sv_finding *f = NULL;

		for (size_t i = 0; i < list.n; i++)
			if (strcmp(list.findings[i].code, code) == 0)
				f = &list.findings[i];
		assert_non_null(f);
		*checked += 1;
		if (strcmp(sv_finding_status_name(f->status),
			json_string_value(status)) == 0)
			continue;
		print_error("%s: %s is %s: %s\n", name, code,
		    sv_finding_status_name(f->status), f->evidence);
		wrong++;
	}
	sv_checklist_fini(&list);
	sv_result_free(r);
	json_decref(expect);
	return wrong;
}

static void recorded_machines_are_judged_as_expected(void **state)
{
	DIR *dir = opendir(FIXTURES);
	const struct dirent *entry;
	size_t wrong = 0, checked = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		if (strchr(entry->d_name, '.') == NULL)
			wrong += check(entry->d_name, &checked);
	closedir(dir);
	assert_int_equal(wrong, 0);
	assert_true(checked > 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(recorded_machines_are_judged_as_expected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
