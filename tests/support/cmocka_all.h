/* cmocka wants these before it, in this order. */
#ifndef SV_TEST_CMOCKA_ALL_H
#define SV_TEST_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
