#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What --help lists is what the manual page describes, of every command, and what argp itself has to say is one line.
# Needs no namespace.

tsnpub=${TSNPUB:-$BATS_TEST_DIRNAME/../../build/tsnpub}
man=$BATS_TEST_DIRNAME/../../man
commands=(publish receive report demo doctor latency sync "schedule plan" "schedule apply" "schedule confirm"
	"schedule show" "schedule check" "schedule clear")

# The long options that a command's --help lists, but for those that all commands have (tsnpub.1).
listed() {
	"$tsnpub" $1 --help | sed -nE 's/^ +(-., )*--([a-z0-9-]+).*/\2/p' | grep -vxE 'help|usage|version' | sort -u
}

# Those that its page describes: the lines that begin with an option.
described() {
	grep -hE '^\*-' "$man/tsnpub-$1.1.scd" | grep -oE '\*--[a-z0-9-]+' | tr -d '*' | sed 's/^--//' | sort -u
}

# The short ones of an option's line belong to it as well: "-n, --count".
short_listed() {
	"$tsnpub" $1 --help | sed -nE 's/^ +-(.), --([a-z0-9-]+).*/\1 \2/p' | grep -vE ' (help|version)$' | sort -u
}

short_described() {
	grep -hE '^\*-' "$man/tsnpub-$1.1.scd" | grep -oE '\*-.\*, \*--[a-z0-9-]+' | tr -d '*' |
		sed -E 's/^-(.), --/\1 /' | sort -u
}

@test "manual: every option of --help is described, and every described one exists" {
	for page in publish receive report demo doctor latency sync; do
		diff <(listed "$page") <(described "$page") || { echo "tsnpub $page: < --help, > manual"; false; }
		diff <(short_listed "$page") <(short_described "$page") || { echo "tsnpub $page: short options"; false; }
		[ -n "$(listed "$page")" ]
	done
	for command in plan apply confirm show check clear; do listed "schedule $command"; done | sort -u >"$BATS_TEST_TMPDIR/help"
	diff "$BATS_TEST_TMPDIR/help" <(described schedule)
}

@test "manual: --json, --quiet and --iface have the same short form with every command" {
	for command in "${commands[@]}"; do
		for option in "j json" "q quiet" "i iface"; do
			! listed "$command" | grep -qx "${option#* }" || short_listed "$command" | grep -qx "$option" ||
				{ echo "$command: no -${option% *}"; false; }
		done
	done
}

@test "manual: the publisher's options are those of its file" {
	dir=$BATS_TEST_TMPDIR
	for option in $(listed publish); do
		case $option in
		config | stream) continue ;;
		esac
		printf 'iface: nope\ncycle: 1ms\n' | grep -v "^$option:" >"$dir/c.yaml"
		printf '%s: x\n' "$option" >>"$dir/c.yaml"
		run "$tsnpub" --config "$dir/c.yaml"
		[[ $output != *"unknown key"* ]] || { echo "$option: $output"; false; }
	done
}

@test "manual: wrong usage of any command is one line with its fix, status 2" {
	for command in "${commands[@]}"; do
		run "$tsnpub" $command --nonsense
		[ "$status" -eq 2 ] && [ "${#lines[@]}" -eq 1 ]
		[ "$output" = "tsnpub: unrecognized option '--nonsense'; \`tsnpub $command --help\` lists the options" ]
		run "$tsnpub" $command a b c
		[ "$status" -eq 2 ] && [ "${#lines[@]}" -eq 1 ] || { echo "$command: $output"; false; }
		[[ $output == "tsnpub: "* ]]
		for help in --help -h "-?"; do
			run "$tsnpub" $command $help
			[ "$status" -eq 0 ] && [[ $output == "Usage: tsnpub $command "* ]]
		done
		diff <("$tsnpub" help $command) <("$tsnpub" $command --help)
		run "$tsnpub" $command --version
		[ "$status" -eq 0 ] && [[ $output == "tsnpub "[0-9]* ]]
		status=0
		"$tsnpub" $command --help >/dev/full 2>"$BATS_TEST_TMPDIR/err" || status=$?
		[ "$status" -eq 3 ] && grep -q "cannot write to stdout: No space left" "$BATS_TEST_TMPDIR/err"
	done
	for words in --help -h help --version -V "schedule --help"; do
		status=0
		"$tsnpub" $words >/dev/full 2>"$BATS_TEST_TMPDIR/err" || status=$?
		[ "$status" -eq 3 ] && grep -q "cannot write to stdout: No space left" "$BATS_TEST_TMPDIR/err"
	done
	run "$tsnpub" help nonsense
	[ "$status" -eq 2 ] && [ "$output" = "tsnpub: unknown command 'nonsense'; \`tsnpub --help\` lists them" ]
	run "$tsnpub" schedule --version
	[ "$status" -eq 0 ] && [[ $output == "tsnpub "[0-9]* ]]
	run "$tsnpub" -?
	[ "$status" -eq 0 ] && [[ $output == "Usage: tsnpub [COMMAND] "* ]]
	run "$tsnpub" nonsense
	[ "$status" -eq 2 ]
	[ "$output" = "tsnpub: unknown command 'nonsense'; \`tsnpub --help\` lists them" ]
	run "$tsnpub" schedule nonsense
	[ "$status" -eq 2 ] && [ "${#lines[@]}" -eq 1 ]
	# what was forgotten is said as well
	run "$tsnpub" receive --iface
	[ "$status" -eq 2 ]
	[ "$output" = "tsnpub: option '--iface' requires an argument; \`tsnpub receive --help\` lists the options" ]
	run "$tsnpub" report
	[ "$status" -eq 2 ] && [[ $output == "tsnpub: no log given; write: "* ]]
	run "$tsnpub" -i
	[ "$status" -eq 2 ] && [ "${#lines[@]}" -eq 1 ]
}

@test "make install: program, pages and configurations below DESTDIR and PREFIX; make uninstall leaves none of them" {
	top=$BATS_TEST_DIRNAME/../..
	at="$BATS_TEST_TMPDIR/a place"
	# of a make that runs this test, none of its own
	make() { env -u MAKEFLAGS -u MAKELEVEL make -s -C "$top" "$@" PREFIX=/opt/tsn DESTDIR="$at"; }
	make install
	[ "$("$at/opt/tsn/bin/tsnpub" --version)" = "$("$tsnpub" --version)" ]
	for page in "$man"/*.scd; do
		name=$(basename "$page" .scd)
		[ -s "$at/opt/tsn/share/man/man${name##*.}/$name" ]
	done
	diff <(cd "$top/configs" && find . -type f | sort) <(cd "$at/opt/tsn/share/tsnpub/configs" && find . -type f | sort)
	# the units start the program that was installed
	grep -q '^ExecStart=/opt/tsn/bin/tsnpub ' "$at"/opt/tsn/share/tsnpub/configs/systemd/tsnpub-tai@.service
	! grep -r /usr/local "$at/opt/tsn/share" || false
	touch "$at/opt/tsn/share/man/man1/other.1"
	make uninstall
	[ "$(cd "$at" && find . -type f)" = ./opt/tsn/share/man/man1/other.1 ]
	[ ! -e "$at/opt/tsn/share/tsnpub" ]
}
