/*
 * Kernels that do nothing: the price of starting one. Their arguments have a
 * size that is fixed when they are compiled, so there is one kernel for each;
 * the backend chooses by args_bytes.
 */
struct svk_null_64_args {
	unsigned char bytes[64];
};

struct svk_null_1024_args {
	unsigned char bytes[1024];
};

extern "C" __global__ void svk_null(void)
{
}

extern "C" __global__ void svk_null_64(struct svk_null_64_args args)
{
	(void)args;
}

extern "C" __global__ void svk_null_1024(struct svk_null_1024_args args)
{
	(void)args;
}
