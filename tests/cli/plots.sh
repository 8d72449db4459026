#!/bin/sh
# Every kind of picture is drawn, of one machine and of several, as SVG that
# an XML parser takes and PNG that is not empty; text that means harm is shown
# and does nothing; without gnuplot one line says so.
# usage: plots.sh STAVE
set -eu
stave=$1
here=$(cd "$(dirname "$0")" && pwd)
fixtures=$here/../fixtures/cli
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"

fail()
{
	echo "plots: $*" >&2
	exit 1
}

code=0
PATH='' "$stave" plot "$fixtures/a.json" --kind launch -o x.svg 2>err || code=$?
[ $code = 6 ] || fail "no gnuplot: exit $code"
grep -q "gnuplot is not installed: install it" err || fail "no gnuplot: $(cat err)"
[ ! -e x.svg ] || fail "no gnuplot, but a picture"

# One that is too old, one that fails, one that says nothing.
mkdir old bad
printf '#!/bin/sh\necho gnuplot 4.6 patchlevel 6\n' >old/gnuplot
# shellcheck disable=SC2016
printf '#!/bin/sh\n[ "$1" = --version ] && echo gnuplot 5.4 && exit\necho "line 1: no such thing" >&2\nexit 1\n' \
	>bad/gnuplot
chmod +x old/gnuplot bad/gnuplot
PATH=old:$PATH "$stave" plot "$fixtures/a.json" --kind launch -o x.svg 2>err &&
	fail "an old gnuplot passes"
grep -q '5.2 or newer is needed.*"gnuplot 4.6' err || fail "old: $(cat err)"
PATH=bad:$PATH "$stave" plot "$fixtures/a.json" --kind launch -o x.svg 2>err &&
	fail "a gnuplot that fails passes"
grep -q 'could not draw: line 1: no such thing' err || fail "bad: $(cat err)"

command -v gnuplot >/dev/null || {
	echo "plots: gnuplot is not installed; the pictures are not tested" >&2
	exit 77
}
python=/usr/bin/python3
$python "$here/../support/plenty.py" old 0.7 >old.json
$python "$here/../support/plenty.py" new 1.0 >new.json
$python "$here/../support/hostile.py" new.json >hostile.json
for kind in transfer gemm-size gemm-batch launch allocator memory loader \
	sustain step habits rounds; do
	"$stave" plot new.json --kind $kind -o one-$kind.svg
	"$stave" plot old.json new.json --kind $kind -o two-$kind.png
	"$stave" plot hostile.json old.json hostile.json --kind $kind \
		-o hostile-$kind.svg
done
# Of what is shipped, whatever it has something of.
published=$here/../../results/published
for kind in transfer gemm-size memory; do
	"$stave" plot "$published/a100-40gb-pcie.json" \
		"$published/rtx-4090.json" --kind $kind -o two-shipped-$kind.png
done
"$stave" plot "$published/a10g.json" --kind gemm-batch -o one-shipped.svg
"$stave" plot old.json new.json --kind step-parts -o one-step-parts.svg
"$stave" plot old.json new.json --kind crossover --workload resnet50 \
	-o two-crossover.png
"$stave" plot hostile.json old.json --kind step-parts --workload resnet50 \
	-o hostile-step-parts.svg
[ ! -e pwned ] || fail "a command in a label was run"
# What must be there, as text.
$python "$here/check_plots.py" one-*.svg two-*.png hostile-*.svg
grep -q ">peak fp32<" one-gemm-size.svg || fail "no peak"
grep -q ">link Gen4 x16<" one-transfer.svg || fail "no ceiling of the link"
grep -q ">gemm<\| gemm<" one-step-parts.svg || fail "no parts of a step"
grep -q ">L2<" one-memory.svg || fail "no size of the L2"
grep -q "&lt;script>\|&lt;script&gt;" hostile-transfer.svg ||
	fail "the label is not shown"

code=0
"$stave" plot new.json --kind launch -o /dev/full/x.svg 2>err || code=$?
[ $code = 6 ] || fail "output that cannot be written: exit $code"
