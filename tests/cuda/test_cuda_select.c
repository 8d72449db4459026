/* What a device selector means, on made-up lists of devices. */
#include <string.h>

#include "cmocka_all.h"
#include "cuda_select.h"

static const struct sv_device_entry entries[] = {
    {.index = 0,
	.uuid = "GPU-4090aaaa-0000-4000-8000-000000000001",
	.pci_address = "0000:41:00.0"},
    {.index = 1,
	.uuid = "GPU-4090bbbb-0000-4000-8000-000000000001",
	.pci_address = "0000:01:00.0"},
    {.index = 2,
	.uuid = "MIG-12345678-0000-4000-8000-000000000001",
	.pci_address = "0001:01:00.0"},
};

#define N (sizeof entries / sizeof entries[0])

static void chooses(const char *selector, size_t wanted)
{
	struct sv_err err;
	size_t place = N;

	assert_int_equal(cuda_select(entries, N, selector, &place, &err), 0);
	assert_int_equal(place, wanted);
}

static void refuses(const char *selector, const char *because)
{
	struct sv_err err;
	size_t place = N;

	assert_int_equal(
	    cuda_select(entries, N, selector, &place, &err), SV_EDEVICE);
	assert_non_null(strstr(err.text, selector));
	assert_non_null(strstr(err.text, because));
	/* What there is, so that the next try can be right. */
	assert_non_null(strstr(err.text, entries[1].pci_address));
	assert_int_equal(place, N);
}

static void an_index_is_the_entrys_own(void **state)
{
	(void)state;
	chooses("0", 0);
	chooses("2", 2);
	refuses("3", "no device has that index");
}

static void a_uuid_may_be_cut_and_lack_its_prefix(void **state)
{
	(void)state;
	chooses("GPU-4090aaaa-0000-4000-8000-000000000001", 0);
	chooses("GPU-4090b", 1);
	chooses("gpu-4090B", 1);
	chooses("4090bbbb", 1);
	chooses("MIG-1", 2);
}

static void digits_too_many_for_an_index_begin_a_uuid(void **state)
{
	(void)state;
	chooses("12345678", 2);
}

static void what_fits_two_devices_is_refused(void **state)
{
	(void)state;
	refuses("GPU-4090", "more than one device fits");
}

static void a_wrong_prefix_does_not_fit(void **state)
{
	(void)state;
	refuses("GPU-12345678", "no device has that UUID");
	refuses("MIG-4090a", "no device has that UUID");
	refuses("GPU-", "no device has that UUID");
}

static void a_pci_address_may_lack_domain_and_function(void **state)
{
	(void)state;
	chooses("0000:41:00.0", 0);
	chooses("00000000:41:00.0", 0);
	chooses("41:00.0", 0);
	chooses("01:00", 1);
	chooses("0001:01:00.0", 2);
	refuses("41:00.1", "PCI address");
	refuses("41:00.0x", "PCI address");
}

static void nothing_is_chosen_from_an_empty_list(void **state)
{
	struct sv_err err;
	size_t place = N;

	(void)state;
	assert_int_equal(
	    cuda_select(entries, 0, "0", &place, &err), SV_EDEVICE);
	assert_non_null(strstr(err.text, "there is none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_index_is_the_entrys_own),
	    cmocka_unit_test(a_uuid_may_be_cut_and_lack_its_prefix),
	    cmocka_unit_test(digits_too_many_for_an_index_begin_a_uuid),
	    cmocka_unit_test(what_fits_two_devices_is_refused),
	    cmocka_unit_test(a_wrong_prefix_does_not_fit),
	    cmocka_unit_test(a_pci_address_may_lack_domain_and_function),
	    cmocka_unit_test(nothing_is_chosen_from_an_empty_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
