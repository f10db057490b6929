// SPDX-License-Identifier: GPL-2.0-only
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/yaml.h"

struct inner {
	char *size;
};

struct outer {
	char *name;
	struct inner *list;
	unsigned list_count;
};

static const cyaml_schema_field_t inner_fields[] = {
	CYAML_FIELD_STRING_PTR("size", CYAML_FLAG_POINTER, struct inner, size, 0, CYAML_UNLIMITED),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t inner_value = { CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT,
								      struct inner, inner_fields) };

static const cyaml_schema_field_t outer_fields[] = {
	CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, struct outer, name, 0, CYAML_UNLIMITED),
	CYAML_FIELD_SEQUENCE("list", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct outer, list,
			     &inner_value, 0, CYAML_UNLIMITED),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t outer_value = { CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER,
								      struct outer, outer_fields) };

static int load(const char *text, struct outer **outer, struct error *err)
{
	struct yaml_file *file = yaml_file_from_text("x.yaml", text, strlen(text), err);
	int result;

	if (!file)
		return -1;
	result = yaml_file_load(file, &outer_value, (void **)outer, err);
	yaml_file_close(file);
	return result;
}

static void values_and_their_lines_are_found(void **state)
{
	static const char text[] = "# head\nname: a\nlist:\n- size: 1\n- size: 2\n";
	struct error err = ERROR_INIT;
	struct yaml_file *file = yaml_file_from_text("x.yaml", text, strlen(text), &err);
	struct outer *outer;
	char what[YAML_WHAT];

	(void)state;
	assert_non_null(file);
	assert_int_equal(yaml_file_load(file, &outer_value, (void **)&outer, &err), 0);
	assert_string_equal(outer->name, "a");
	assert_int_equal(outer->list_count, 2);
	assert_string_equal(outer->list[1].size, "2");
	assert_int_equal(yaml_file_line(file, "name"), 2);
	assert_int_equal(yaml_file_line(file, "list[1].size"), 5);
	assert_int_equal(yaml_file_line(file, "list[1].colour"), 5);
	assert_int_equal(yaml_file_line(file, "elsewhere"), 2);
	assert_true(yaml_file_has(file, "list[0].size"));
	assert_false(yaml_file_has(file, "list[2]"));
	assert_string_equal(yaml_file_what(file, "list[1].size", what),
			    "x.yaml: line 5: list[1].size");
	yaml_file_free(&outer_value, outer);
	yaml_file_close(file);
}

static void each_error_is_one_line_with_its_place(void **state)
{
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{ "", "x.yaml: the file is empty" },
		{ "# only a comment\n", "the file is empty" },
		{ "name: a\n---\nname: b\n", "line 2: a second document begins" },
		{ "name: &x a\n", "line 1: '&x': anchors" },
		{ "name: a\nlist: *x\n", "line 2: '*x': anchors" },
		{ "name: !!int 3\n", "tags are not read" },
		{ "name: a\nname: b\n", "line 2: key 'name' stands here a second time" },
		{ "name: a\nnmae: b\n", "line 2: unknown key 'nmae'" },
		{ "list:\n- size: 1\n", "key 'name' is missing" },
		{ "name: [a]\n", "line 1: name: wrong kind of value: a list, where a single value "
				 "belongs; write" },
		{ "name: a\nlist: 3\n", "line 2: list: wrong kind of value: a single value, where "
					"a list belongs; write" },
		{ "name: a\nlist:\n- 3\n", "line 3: list[0]: wrong kind of value: a single value, "
					   "where a mapping belongs; write" },
		{ "name: a\nlist: [{size: b}, {size: {c: d}}]\n",
		  "line 2: list[1].size: wrong kind of value: a mapping," },
		{ "name: a\n\"\\n\\e[31m\": 1\n",
		  "line 2: '??[31m': a control character in a key" },
		{ "name: {\n", "not YAML" },
		{ "name: a\n\x01", "line 2: byte 0x01: a binary file" },
		{ "name: \"a\\0b\"\n", "NUL character" },
		{ "[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]\n", "nested more than" },
		{ "? [a]\n: b\n", "as a key" },
		{ "just text\n", "wrong kind of value" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = ERROR_INIT;
		struct outer *outer = NULL;

		assert_int_equal(load(cases[i].text, &outer, &err), -1);
		assert_int_equal(err.status, STATUS_INPUT);
		if (!strstr(err.text, cases[i].says) || strncmp(err.text, "x.yaml: ", 8))
			fail_msg("'%s' says: %s", cases[i].text, err.text);
	}
}

static void large_and_missing_files_are_refused(void **state)
{
	struct error err = ERROR_INIT;
	char *text = malloc(YAML_SIZE_MAX + 2);

	(void)state;
	memset(text, '#', YAML_SIZE_MAX + 2);
	assert_null(yaml_file_from_text("big.yaml", text, YAML_SIZE_MAX + 1, &err));
	assert_non_null(strstr(err.text, "larger than 1024 KiB"));
	free(text);
	assert_null(yaml_file_open("/nonexistent/x.yaml", &err));
	assert_int_equal(err.status, STATUS_INPUT);
	assert_null(yaml_file_open("/", &err));
	assert_null(yaml_file_open("/dev/zero", &err));
	assert_int_equal(err.status, STATUS_INPUT);
}

/* Each key is compared with those before it: 100,000 of them in a file of 1 MB took minutes. */
static void mappings_of_very_many_keys_are_refused(void **state)
{
	static char text[1001 * 8 + 1];
	struct error err = ERROR_INIT;

	(void)state;
	for (int i = 0; i <= 1000; i++) {
		char line[9];

		snprintf(line, sizeof(line), "k%04d: \n", i);
		memcpy(text + i * 8, line, 8);
	}
	assert_null(yaml_file_from_text("x.yaml", text, 1001 * 8, &err));
	assert_string_equal(
		err.text,
		"x.yaml: line 1001: more than 1000 keys in one mapping; is it the right file?");
	yaml_file_close(yaml_file_from_text("x.yaml", text, 1000 * 8, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_and_their_lines_are_found),
		cmocka_unit_test(each_error_is_one_line_with_its_place),
		cmocka_unit_test(large_and_missing_files_are_refused),
		cmocka_unit_test(mappings_of_very_many_keys_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
