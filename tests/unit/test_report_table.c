/* Tables: alignment, width, Markdown and CSV, and text that means harm. */
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "table.h"

static struct sv_table *make(const char *name)
{
	struct sv_table *t = sv_table_new();

	sv_table_column(t, "name", SV_LEFT);
	sv_table_column(t, "value", SV_RIGHT);
	sv_table_column(t, "never", SV_LEFT);
	sv_table_row(t);
	sv_table_cell(t, name);
	sv_table_cell(t, "3.18 µs");
	sv_table_row(t);
	sv_table_cell(t, "b");
	sv_table_cell(t, "12 s");
	return t;
}

/* What is printed, in a buffer; the caller frees. */
static char *printed(struct sv_table *t, int kind, size_t width)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	if (kind == 0)
		sv_table_print(t, out, width, 1);
	else if (kind == 1)
		sv_table_print_markdown(t, out);
	else
		sv_table_print_csv(t, out);
	fclose(out);
	sv_table_free(t);
	return text;
}

static void columns_line_up_by_what_is_seen(void **state)
{
	char *text = printed(make("long name"), 0, 0);

	(void)state;
	assert_string_equal(text, " name         value\n"
				  " long name  3.18 µs\n"
				  " b             12 s\n");
	free(text);
}

static void a_narrow_terminal_cuts_the_widest(void **state)
{
	char *text =
	    printed(make("a name that is far too long for this"), 0, 30);

	(void)state;
	assert_non_null(strstr(text, "a name that is far …"));
	for (char *line = strtok(text, "\n"); line != NULL;
	     line = strtok(NULL, "\n"))
		assert_true(sv_text_width(line) <= 30);
	free(text);
}

static void text_stays_text_in_every_form(void **state)
{
	char *text = printed(make("a|b`<i>\n\"x\",\033[2J"), 1, 0);

	(void)state;
	assert_non_null(strstr(text, "a\\|b\\`\\<i\\> \"x\", \\[2J"));
	free(text);
	text = printed(make("say \"x\", then"), 2, 0);
	assert_non_null(strstr(text, "\"say \"\"x\"\", then\",3.18 µs,\r\n"));
	free(text);
	text = printed(make("\033[2Jgone"), 0, 0);
	assert_null(strchr(text, '\033'));
	free(text);
}

static void nothing_to_show_shows_nothing(void **state)
{
	char *text = printed(sv_table_new(), 0, 0);

	(void)state;
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(columns_line_up_by_what_is_seen),
	    cmocka_unit_test(a_narrow_terminal_cuts_the_widest),
	    cmocka_unit_test(text_stays_text_in_every_form),
	    cmocka_unit_test(nothing_to_show_shows_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
