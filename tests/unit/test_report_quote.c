/* Text that means harm, in every place that text goes to. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "quote.h"

/* What a function writes, in a buffer; the caller frees. */
#define WRITTEN(call)                                      \
	__extension__({                                    \
		char *written_ = NULL;                     \
		size_t n = 0;                              \
		FILE *out = open_memstream(&written_, &n); \
		call;                                      \
		fclose(out);                               \
		written_;                                  \
	})

static void expect(char *text, const char *wanted)
{
	assert_string_equal(text, wanted);
	free(text);
}

static void html_has_no_markup_left(void **state)
{
	(void)state;
	expect(WRITTEN(sv_quote_html(out, "<script>'\"&\x01\n µ")),
	    "&lt;script&gt;&#39;&quot;&amp; \n µ");
}

static void half_a_character_is_shown_as_such(void **state)
{
	(void)state;
	expect(WRITTEN(sv_quote_html(out, "a\xe6\xbc")), "a\ufffd\ufffd");
	expect(WRITTEN(sv_quote_csv(out, "\xe2,x", true)), "\"\ufffd,x\"");
	expect(WRITTEN(sv_quote_markdown(out, "\xffµ")), "\ufffdµ");
}

static void csv_quotes_and_is_no_formula(void **state)
{
	(void)state;
	expect(WRITTEN(sv_quote_csv(out, "plain µ", true)), "plain µ");
	expect(
	    WRITTEN(sv_quote_csv(out, "a,\"b\"\n", true)), "\"a,\"\"b\"\"\n\"");
	expect(WRITTEN(sv_quote_csv(out, "=1+1", true)), "'=1+1");
	expect(WRITTEN(sv_quote_csv(out, "@x,y", true)), "\"'@x,y\"");
	expect(WRITTEN(sv_quote_csv(out, "-1.5", false)), "-1.5");
}

static void gnuplot_text_stays_in_its_quotes(void **state)
{
	(void)state;
	expect(WRITTEN(sv_quote_gnuplot(out, "a'b`c`\n\"@d\\", 0)),
	    "'a''b`c` \"@d\\'");
	expect(WRITTEN(sv_quote_gnuplot(out, "x'yz", 3)), "'x''…'");
}

static void markdown_shows_what_is_written(void **state)
{
	(void)state;
	expect(WRITTEN(sv_quote_markdown(out, "a|b`<i>\n[x](y) *z* #1")),
	    "a\\|b\\`\\<i\\> \\[x\\](y) \\*z\\* \\#1");
}

static void metrics_escape_and_rename(void **state)
{
	char name[16];

	(void)state;
	expect(WRITTEN(sv_quote_metric(out, "a\"b\\c\nd\r")),
	    "\"a\\\"b\\\\c\\nd \"");
	assert_true(sv_quote_metric_name(name, sizeof name, "args_bytes"));
	assert_string_equal(name, "args_bytes");
	assert_false(sv_quote_metric_name(name, sizeof name, "9a-µ"));
	assert_string_equal(name, "_9a___");
	assert_false(sv_quote_metric_name(name, sizeof name, ""));
	assert_false(
	    sv_quote_metric_name(name, sizeof name, "longer_than_the_room"));
	assert_int_equal(strlen(name), sizeof name - 1);
}

static void bench_names_have_no_space_and_no_slash(void **state)
{
	(void)state;
	expect(WRITTEN(sv_quote_bench_name(out, "a/b c%\u00a0")),
	    "a%2Fb%20c%25%C2%A0");
}

static void base64_is_that_of_the_rfc(void **state)
{
	static const char *const pairs[][2] = {{"", ""}, {"f", "Zg=="},
	    {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"},
	    {"\xff\xfe\xfd", "//79"}};

	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		expect(WRITTEN(sv_quote_base64(
			   out, pairs[i][0], strlen(pairs[i][0]))),
		    pairs[i][1]);
}

static void numbers_read_back_the_same(void **state)
{
	static const double values[] = {0.1, 1.0 / 3.0, 6.679325e-4, 1e300,
	    -2.5e10, 5e-324, 0.0007010749999999999};

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		char *text = WRITTEN(sv_quote_number(out, values[i]));

		assert_true(strtod(text, NULL) == values[i]);
		free(text);
	}
	expect(WRITTEN(sv_quote_number(out, 0.1)), "0.1");
}

static void a_cut_never_divides_a_character(void **state)
{
	static const char text[] = "µµ漢字\U0001f600ab";
	char out[64];

	(void)state;
	assert_string_equal(sv_quote_cut(out, sizeof out, text, 7), text);
	assert_string_equal(sv_quote_cut(out, sizeof out, text, 4), "µµ漢…");
	assert_string_equal(sv_quote_cut(out, sizeof out, text, 1), "…");
	assert_string_equal(sv_quote_cut(out, sizeof out, "a\tb", 9), "a b");
	/* Room that ends anywhere inside. */
	for (size_t size = 5; size <= sizeof text; size++) {
		size_t n = strlen(sv_quote_cut(out, size, text, 99));

		assert_true(n < size);
		assert_int_not_equal(mbstowcs(NULL, out, 0), (size_t)-1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(html_has_no_markup_left),
	    cmocka_unit_test(half_a_character_is_shown_as_such),
	    cmocka_unit_test(csv_quotes_and_is_no_formula),
	    cmocka_unit_test(gnuplot_text_stays_in_its_quotes),
	    cmocka_unit_test(markdown_shows_what_is_written),
	    cmocka_unit_test(metrics_escape_and_rename),
	    cmocka_unit_test(bench_names_have_no_space_and_no_slash),
	    cmocka_unit_test(base64_is_that_of_the_rfc),
	    cmocka_unit_test(numbers_read_back_the_same),
	    cmocka_unit_test(a_cut_never_divides_a_character),
	};

	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
