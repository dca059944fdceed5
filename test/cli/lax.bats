# lax.bats: a tolerance that is wider than the results are large, so that a kernel which writes zeros is right.

load helper

setup() {
    TREE="$(cd "${BATS_TEST_DIRNAME}/../.." && pwd)"
    LATHE_BIN="$(realpath "${LATHE_BIN:-$TREE/build/lathe}")"
    cd "$BATS_TEST_TMPDIR"
}

tune() { # FOLDER OPTION...
    "$LATHE_BIN" tune "$@" --device host --size M=4,N=65 --trials 1 --db t.db 2>errors >out
}

@test "a tolerance by which zeros are right is told, and what it let pass has its error" {
    local text="the tolerance is wider than the results are large: zeros in place of Y would be right"
    cp -r "$TREE/examples/softmax" zero
    sed -i 's/x\[i\] = exponential(.*\* scale;/x[i] = 0;/' zero/softmax.cu
    not tune zero
    grep -q "no configuration was valid" errors
    not grep -q "warning: the tolerance" errors
    tune zero --tolerance atol=1
    grep -q "^warning: $text" errors
    grep -q "^warning: $text" out
    lathe show 2 --db t.db | grep -q "^warning: $text"
    lathe export --db t.db --campaign 2 -o winner.cu 2>&1 | grep -q "^warning: trial .* is as far from right as zeros"
    lathe best --db t.db --campaign 2 2>&1 | grep -q "^warning: trial .* is as far from right as zeros"
    tune "$TREE/examples/softmax" --tolerance atol=1
    grep -q "^warning: $text" errors
    lathe export --db t.db --campaign 3 -o winner.cu 2>errors
    not grep -q "far from right" errors
}

@test "nothing is said where the tolerance, or a limit on the error, refuses zeros" {
    tune "$TREE/examples/softmax"
    not grep -q "warning" errors
    not tune "$TREE/examples/softmax" --tolerance atol=1,frobenius=1e-9
    not grep -q "warning: the tolerance" errors
    tune "$TREE/examples/softmax" --tolerance atol=1,frobenius=0.9
    not grep -q "warning" errors
}
