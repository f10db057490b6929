// SPDX-License-Identifier: GPL-2.0-only
/* Addresses and the kernel's names of them, from what /proc/kallsyms says. */
#include "cmocka_all.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/blame_report.h"

static int file_of(const char *text)
{
	int fd = memfd_create("kallsyms", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void functions_are_named(void **state)
{
	const uint64_t addresses[] = {
		0xffffffff81000020, 0, 0xffffffff81000100, 0xffffffffc0000123, 0xffffffff8fffffff,
		0xffffffff80000000,
	};
	int fd = file_of("0000000000000000 A percpu_start\n"
			 "ffffffff81000000 T first\n"
			 "ffffffff81000010 t before_data\n"
			 "ffffffff81000018 D data_is_nobody\n"
			 "ffffffff81000100 W weak\n"
			 "ffffffff81000200 T behind\n"
			 "nonsense\n"
			 "\n"
			 "ffffffffc0000120 t culprit_timer\t[tsnsim]\n"
			 "ffffffffc0000124 t too_far\t[tsnsim]\n");
	char symbols[6][BLAME_TEXT];

	(void)state;
	/* wherever it was read to before */
	assert_int_equal(lseek(fd, 0, SEEK_CUR) > 0, 1);
	blame_symbols(fd, addresses, symbols, 6);
	assert_string_equal(symbols[0], "before_data");
	assert_string_equal(symbols[1], "");
	assert_string_equal(symbols[2], "weak");
	assert_string_equal(symbols[3], "culprit_timer [tsnsim]");
	/* 1 MiB and more behind the nearest one, and before all */
	assert_string_equal(symbols[4], "");
	assert_string_equal(symbols[5], "");
	close(fd);
}

static void the_order_of_lines_does_not_matter(void **state)
{
	const uint64_t address = 0x2005;
	int fd = file_of("0000000000002000 T nearest\n"
			 "0000000000001000 T farther\n");
	char symbol[1][BLAME_TEXT];

	(void)state;
	blame_symbols(fd, &address, symbol, 1);
	assert_string_equal(symbol[0], "nearest");
	close(fd);
}

static void secret_addresses_name_nobody(void **state)
{
	const uint64_t address = 0x2005;
	int fd = file_of("0000000000000000 T secret\n");
	char symbol[1][BLAME_TEXT];

	(void)state;
	blame_symbols(fd, &address, symbol, 1);
	assert_string_equal(symbol[0], "");
	blame_symbols(-1, &address, symbol, 1);
	assert_string_equal(symbol[0], "");
	close(fd);
}

static void names_are_cut_and_made_printable(void **state)
{
	const uint64_t address = 0x2005;
	char line[600] = "0000000000002000 T a\x1b[31m";
	char symbol[1][BLAME_TEXT];
	size_t used = strlen(line);
	int fd;

	(void)state;
	memset(line + used, 'x', sizeof(line) - used - 1);
	line[sizeof(line) - 1] = '\0';
	fd = file_of(line);
	blame_symbols(fd, &address, symbol, 1);
	assert_int_equal(strlen(symbol[0]), BLAME_TEXT - 1);
	assert_memory_equal(symbol[0], "a [31mxxx", 9);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_named),
		cmocka_unit_test(the_order_of_lines_does_not_matter),
		cmocka_unit_test(secret_addresses_name_nobody),
		cmocka_unit_test(names_are_cut_and_made_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
