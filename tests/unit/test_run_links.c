/*
 * Copies against their link: a trusted one becomes the reference of copies in
 * one direction, an impossible copy takes the trust away.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "cmocka_all.h"
#include "edit.h"
#include "near.h"

#define HEALTHY SV_TEST_FIXTURES "/checklist/healthy.json"
#define H2D	"transfer/bandwidth?bytes=268435456&direction=h2d&memory=pinned"

static struct sv_result *linked(const char *edits)
{
	struct sv_result *r = sv_edited(HEALTHY, edits);

	sv_assemble_link(r);
	return r;
}

static void a_trusted_link_is_the_reference_of_its_copies(void **state)
{
	struct sv_result *r = linked("device.pcie.ceiling_Bps := 2.92e10");
	size_t with = 0;

	(void)state;
	assert_near(sv_result_find(r, H2D)->reference, 2.92e10, 1e-12);
	for (size_t i = 0; i < r->n_measurements; i++)
		with += r->measurements[i].has_reference;
	/* Four copies, and the two of memory that had one already. */
	assert_int_equal(with, 6);
	sv_result_free(r);
}

static void without_trust_there_is_no_reference(void **state)
{
	static const char *const ways[] = {
	    ("device.pcie.trusted := false ; "
	     "device.pcie.ceiling_Bps := 2.92e10"),
	    "device.pcie.ceiling_Bps := null",
	    "device.pcie.ceiling_Bps := 1e10",
	};

	(void)state;
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		struct sv_result *r = linked(ways[i]);

		assert_false(sv_result_find(r, H2D)->has_reference);
		/* The last one: copies of 26 GB/s over 10. */
		if (i == 2)
			assert_true(json_is_false(
			    sv_result_field(r->device, "pcie.trusted")));
		sv_result_free(r);
	}
}

static void a_copy_that_failed_its_check_proves_nothing(void **state)
{
	struct sv_result *r = linked(
	    "device.pcie.ceiling_Bps := 2.92e10 ; @" H2D " := 9e10 ; @" H2D
	    "!check := {\"status\":\"fail\",\"detail\":\"\"}");

	(void)state;
	assert_true(json_is_true(sv_result_field(r->device, "pcie.trusted")));
	sv_result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_trusted_link_is_the_reference_of_its_copies),
	    cmocka_unit_test(without_trust_there_is_no_reference),
	    cmocka_unit_test(a_copy_that_failed_its_check_proves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
