#!/bin/sh
# Takes the compiler's place in a job of tollgate.
o= c= p=
for a; do
	[ "$p" != -o ] || o=$a
	[ "$a" != -c ] || c=1
	p=$a
done
case $c:@OBJECTS@ in
1:*" ${o:-none} "*) ;;
*) exec @COMPILER@ "$@" ;;
esac
d=/tmp/out/o/$o
mkdir -p "${d%/*}"
printf '%s\n' "$@" >"$d.args"
# gcc takes one -o only.
preprocess() {
	s=
	for a; do
		shift
		case $s$a in
		-o) s=1 ;;
		1*) s= ;;
		*) set -- "$@" "$a" ;;
		esac
	done
	@COMPILER@ "$@" -E -dD -D__LINE__=0 -Wno-builtin-macro-redefined \
		2>/dev/null
}
# On its standard output, which is not removed where a macro is used wrongly.
preprocess "$@" >"$d.i"
[ @MODE@ = compile ] || exit 1
@COMPILER@ "$@" 2>"$d.said"
s=$?
echo $s >"$d.status"
exit $s
