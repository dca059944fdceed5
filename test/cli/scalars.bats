# scalars.bats: candidates are verified with other values of the problem's scalars than the specification's, too
# (docs/method.md). test/mutants/scalars.txt has more mistakes of the kind.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR"
    cp "$TREE"/test/specs/scalars.* .
}

# plant SED: in the candidate
plant() {
    sed "/ifdef LATHE_LET/,\$ { $1 }" "$TREE/test/specs/scalars.cu" >scalars.cu
    ! cmp -s scalars.cu "$TREE/test/specs/scalars.cu"
}

tune() { lathe tune scalars.lua --device host --strategy exhaustive --db db "$@" >out 2>err; }
value() { "$LATHE_BIN" query --db db --csv "$1" | tail -1 | tr -d '\r'; }

@test "a kernel that takes the scalars is right" {
    lathe verify scalars.lua --kernel scalars --device host
    tune
    [ "$(value "SELECT count(*) FROM trial WHERE outcome = 'ok'")" = 2 ]
    ! grep -q "other scalars" err
}

@test "one that has a value of its own is wrong, in a campaign and by verify, and has no time" {
    plant 's|twice / 2|2|'
    run lathe verify scalars.lua --kernel scalars --device host --inputs default
    [ "$status" = 1 ]
    [[ "$output" == *"right with the specification's scalars, wrong with gain = 1.5, offset = 0.5625, low = -2.625, high = 2.8125: "* ]]
    run tune
    [ "$status" = 1 ]
    [ "$(value "SELECT count(*) FROM trial WHERE outcome = 'wrong' AND time_ms IS NULL
        AND reason LIKE 'right with the specification''s scalars, wrong with gain = 1.5, %elements differ%'")" = 2 ]
}

@test "one that stays is no reason that another does, though it be near" {
    sed -i 's/{ "gain", 2.0 }/{ "gain", 4.5 }/' scalars.lua
    lathe verify scalars.lua --kernel scalars --device host --inputs default
    plant 's|twice / 2|4.5f|'
    run lathe verify scalars.lua --kernel scalars --device host --inputs default
    [ "$status" = 1 ]
    [[ "$output" == *"right with the specification's scalars, "*" with gain = 4.21875, "* ]]
}

@test "what goes wrong in memory with other values is told as that" {
    plant 's|const float gain.*|& if (gain < 2) Y[64 * N + 3] = 0;|'
    run lathe verify scalars.lua --kernel scalars --device host --inputs default --sample 1
    [ "$status" = 1 ]
    [[ "$output" == *"wrong with gain = 1.5, "*": out-of-bounds write: Y was written 12 bytes past its end"* ]]
}

@test "a trial that cannot win is not run once more for it, and its place in the final is" {
    plant 's|const float gain = twice / 2;|const float gain = LATHE_BLOCK == 64 ? 2 : twice / 2;\
        for (volatile int i = 0; i < (LATHE_BLOCK == 64 ? 1000 : 0); i = i + 1) {}|'
    sed -i 's/{ 32, 64 }/{ 32, 96, 128, 160, 64 }/' scalars.lua
    tune --compile-workers 1 --top 5
    [ "$(value "SELECT count(*) FROM trial_report WHERE configuration = 'BLOCK=64' AND
        reason LIKE 'refused by the final: %right with the specification''s scalars, wrong with gain%'")" = 1 ]
    [ "$(value "SELECT count(*) FROM trial WHERE final_rank > 0")" = 4 ]
}

@test "where other values give no numbers the specification's are all, and that is said" {
    sed -i 's/gain \* X/(gain == 1.5f ? NAN : gain) * X/' scalars.cu
    tune
    [ "$(value "SELECT count(*) FROM trial WHERE outcome = 'ok'")" = 2 ]
    grep -q "nothing is verified with other scalars: with gain = 1.5, .* elements of Y are infinite or no number" err
    lathe verify scalars.lua --kernel scalars --device host --inputs default,normal >out 2>err
    grep -q "inputs normal: nothing is verified with other scalars: " err
}

@test "a reference that fails with other values, as one whose scalar is a count: the specification's are all" {
    sed -i '/_reference/,/^}/ s|const double y = .*|if (gain != 2) FAILS; &|' scalars.cu
    cp scalars.cu fails.cu
    sed 's/FAILS/__builtin_trap()/' fails.cu >scalars.cu
    tune
    [ "$(value "SELECT count(*) FROM trial WHERE outcome = 'ok'")" = 2 ]
    grep -q "nothing is verified with other scalars: with gain = 1.5, .* the reference crashes: killed by signal" err
    lathe verify scalars.lua --kernel scalars --device host --inputs default,normal >out 2>err
    [ "$(grep -c "nothing is verified with other scalars: with gain = 1.5, .* the reference crashes: " err)" = 2 ]
    sed 's/FAILS/for (volatile int i = 0;;)/' fails.cu >scalars.cu
    rm db
    tune --time-limit 0.2
    [ "$(value "SELECT count(*) FROM trial WHERE outcome = 'ok'")" = 2 ]
    grep -q "with other scalars: with gain = 1.5, .* the reference did not end within 2 s" err
}

@test "scalars that keep their value are named" {
    tune
    grep -q "verified with one value alone of steps: a shape, a constraint, a launch or an index depends on it" err
    rm db
    sed -i 's|constraints = .*|constraints = { "gain + offset + low + high + steps > 0" },|' scalars.lua
    plant 's|twice / 2|2|'
    tune
    [ "$(value "SELECT count(*) FROM trial WHERE outcome = 'ok'")" = 2 ]
    grep -q "verified with one value alone of gain, offset, low, high, steps: " err
    ! grep -q "scalars:" err
}
