/* stave list specs: what a machine can be qualified against. */
#include <stdlib.h>

#include "cli.h"
#include "spec.h"
#include "table.h"

static void print_specs(json_t *all, const struct sv_common *common)
{
	struct sv_report_style style = sv_style(common->colour);
	struct sv_table *t = sv_table_new();
	json_t *one;
	size_t i;

	sv_table_column(t, "spec", SV_LEFT);
	sv_table_column(t, "checks", SV_RIGHT);
	sv_table_column(t, "title", SV_LEFT);
	json_array_foreach (all, i, one) {
		char number[24];

		snprintf(number, sizeof number, "%lld",
		    (long long)json_integer_value(
			json_object_get(one, "checks")));
		sv_table_row(t);
		sv_table_cell(
		    t, json_string_value(json_object_get(one, "name")));
		sv_table_cell(t, number);
		sv_table_cell(
		    t, json_string_value(json_object_get(one, "title")));
	}
	sv_table_print(t, stdout, style.width, 0);
	sv_table_free(t);
}

int sv_list_specs(const struct sv_common *common)
{
	json_t *all = json_array();
	char **names = NULL;
	struct sv_err err;
	int code = sv_spec_shipped(&names, &err);

	for (char **name = names; code == 0 && *name != NULL; name++) {
		struct sv_spec *spec = NULL;

		code = sv_spec_read(*name, &spec, &err);
		if (code == 0)
			json_array_append_new(all,
			    json_pack("{s:s, s:s, s:i}", "name", *name, "title",
				spec->title, "checks",
				(int)(spec->n_bounds + spec->n_expectations)));
		sv_spec_free(spec);
	}
	free(names);
	if (code != 0) {
		json_decref(all);
		return sv_complain(&err);
	}
	if (common->json)
		return sv_print_json(all, stdout, &err) == 0
			   ? 0
			   : sv_complain(&err);
	print_specs(all, common);
	json_decref(all);
	return 0;
}
