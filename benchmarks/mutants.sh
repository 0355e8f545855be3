#!/bin/sh
# Mutation testing of one module or package: sh benchmarks/mutants.sh MODULE [TESTS]
#   sh benchmarks/mutants.sh src/likewise/metrics.py tests/test_metrics.py
# mutmut works in a copy, so that the source tree is not changed. It prints the score and the
# mutants that no test noticed; show one of them with `mutmut show NAME` in the printed folder.
set -eu
module=${1:?usage: mutants.sh MODULE [TESTS]}
case "$module" in
    *.py) only=$module ;;
    *) only="${module%/}/*" ;;
esac
default=$(echo "$module" | sed 's#^src/likewise/#tests/#; s#\([^/]*\)\.py$#test_\1.py#')
tests=${2:-$default}
[ -e "$module" ] || { echo "MODULE must be a file or folder below src, got $module."; exit 2; }
[ -e "$tests" ] || { echo "TESTS must be a test file or folder, got $tests; give TESTS=."; exit 2; }
bin=${BIN:+$BIN/}
work=$(mktemp -d)
cp -r src tests pyproject.toml "$work"
cd "$work"
python3 - "$only" "$tests" <<'PYTHON'
import sys
from pathlib import Path

only, tests = sys.argv[1:]
table = f'''
[tool.mutmut]
source_paths = ["src"]
only_mutate = ["{only}"]
pytest_add_cli_args_test_selection = ["{tests}"]
pytest_add_cli_args = ["-p", "no:cacheprovider", "-x", "-q"]
also_copy = ["src", "tests", "pyproject.toml"]
'''
with Path("pyproject.toml").open("a") as file:
    file.write(table)
PYTHON
unset PYTHONPATH
"${bin}mutmut" run --max-children "${CHILDREN:-2}" >run.log 2>&1 || { tail -30 run.log; exit 1; }
"${bin}mutmut" results --all true >results.txt
killed=$(grep -c ': killed' results.txt || true)
survived=$(grep -c ': survived' results.txt || true)
other=$(grep -c -v -e ': killed' -e ': survived' results.txt || true)
echo "$only, tested by $tests: $killed mutants killed, $survived survived, $other other"
grep ': survived' results.txt || true
echo "folder: $work"
