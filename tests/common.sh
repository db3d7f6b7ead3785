# SPDX-License-Identifier: MIT
# What the shell tests of the program share; sourced in the build folder.
# $dir is a folder of their own, which is removed at the end.

top=$(pwd)
assay=$top/assay
make_heads=$top/tests/make_heads
change_set=$top/tests/change_set
failed=0
dir=$(mktemp -d "${TMPDIR:-/tmp}/assay-test-XXXXXX") || exit 99
trap 'cd / && rm -rf "$dir"' 0
trap 'exit 99' 1 2 15
cd "$dir" || exit 99
unset NO_COLOR HDF5_USE_FILE_LOCKING SOURCE_DATE_EPOCH

wrong() {
    echo "FAIL: $*"
    failed=$((failed + 1))
}

# Runs assay with the arguments after the first, which is the exit status
# that it must have. Output is in files out and err.
run() {
    want=$1
    shift
    "$assay" "$@" >out 2>err </dev/null
    code=$?
    test "$code" -eq "$want" || {
        wrong "assay $*: exit status $code, not $want"
        head -n 3 err
    }
}

has() {
    grep -q -e "$2" "$1" || {
        wrong "$3: no \"$2\""
        head -n 3 "$1"
    }
}

# The program's verdict on the whole.
finish() {
    test "$failed" -eq 0 || exit 1
    exit 0
}
