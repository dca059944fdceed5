# export.bats: exported files build where nvcc is, without warnings, self-test included. They run on the GPU machine
# only (scripts/bench_linear).

load helper

setup_file() {
    TREE="$(cd "${BATS_TEST_DIRNAME}/../.." && pwd)"
    LATHE_BIN="$(realpath "${LATHE_BIN:-$TREE/build/lathe}")"
    export LATHE_KERNELS="$TREE/kernels"
    cd "$BATS_FILE_TMPDIR"
    "$LATHE_BIN" tune "$TREE/test/specs/faults.lua" --device host --strategy exhaustive --trials 1 --db export.db -q
    "$LATHE_BIN" tune linear --device host --size M=8,N=16,K=32 --strategy random --trials 6 --db export.db -q
}

builds() { # FILE [OPTION...]
    command -v nvcc >/dev/null || skip "no nvcc here"
    local file=$1
    shift
    run nvcc -std=c++17 -gencode arch=compute_80,code=sm_80 -Xcompiler -Wall,-Wextra -o out "$file" "$@"
    if [ "$status" -ne 0 ] || [[ "$output" == *"warning"*"total"* ]]; then echo "$output"; return 1; fi
}

@test "a kernel with a reference kernel: the file and its self-test build" {
    lathe export --db "$BATS_FILE_TMPDIR/export.db" --problem faults -o w.cu
    builds w.cu -c
    builds w.cu -DLATHE_SELFTEST
}

@test "lets and workspace that depend on scalars: the file and its self-test build" {
    lathe tune "$TREE/test/specs/scalars.lua" --device host --trials 1 --db d.db -q
    lathe export --db d.db -o w.cu
    builds w.cu -DLATHE_SELFTEST
}

@test "a reference kernel over lathe.cuh, whose formulas divide: the self-test builds" {
    cp "$TREE/test/specs/faults_reference.cu" mine.cu
    sed -i '1i #include "lathe.cuh"' mine.cu
    cat >spec.lua <<'EOF'
return problem {
  name = "divides", dims = { { "N", 1000 } },
  tensors = { { "x", "f32", { "N" } }, { "y", "f32", { "N" }, output = true } },
  reference = kernel {
    source = "mine.cu",
    steps = { launch { "scale_reference", grid = "min(max(ceil_div(N, 64), 1), 99)", block = 64,
                       args = { "x", "y", "N" } } },
  },
  tolerance = { atol = 0, rtol = 1e-6 },
  kernels = {
    { "divides", source = "mine.cu", params = { { "P", { 1, 2 } } },
      steps = { launch { "scale_reference", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N" } } } },
  },
}
EOF
    lathe tune spec.lua --device host --strategy exhaustive --db d.db -q
    lathe export --db d.db -o w.cu
    builds w.cu -c
    builds w.cu -DLATHE_SELFTEST
}

# The launcher's names (the specification's), those of the helpers before it and of the self-test.
@test "a kernel's macros of the launcher's names, and of C's, are its own; so are the reference's" {
    cat >mac.cu <<'CU'
#ifndef MINE_H
#define MINE_H
/* over
   two */ #define N 16
#define y (out_)
# /* blank */ define workspace_bytes \
    in_
%: define s 2.0f
#  define stream 7
#define grid(a) a
#define bytes 12
#define rank 12
#undef INT_MAX
#define INT_MAX 5
#define cudaSuccess 9
#ifndef TILE
#define TILE LATHE_P
#endif
extern "C" __global__ void scale(const float *x, float *y, int rows, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows && TILE) y[i] = factor * x[i] * N / 16;
}
#endif
CU
    cat >ref.cu <<'CU'
#ifndef MINE_H
#define MINE_H
#define N 8
#ifdef LATHE_P
#error "a parameter of the winner's"
#endif
#ifndef TILE
#define TILE LATHE_LET_tile
#endif
extern "C" __global__ void scale_reference(const float *x, float *y, int rows, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) y[i] = factor * x[i] * N * TILE / 16;
}
#endif
CU
    cat >spec.lua <<'EOF'
return problem {
  name = "macros", dims = { { "N", 1000 } }, scalars = { { "s", 2 } },
  tensors = { { "x", "f32", { "N" } }, { "y", "f32", { "N" }, output = true } },
  reference = kernel {
    source = "ref.cu", let = { { "tile", "2" } },
    steps = { launch { "scale_reference", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N", f32 "s" } } },
  },
  tolerance = { atol = 0, rtol = 1e-6 },
  kernels = {
    { "macros", source = "mac.cu", params = { { "P", { 1, 2 } } }, workspace = { { "room", "f32", { "N" } } },
      steps = { launch { "scale", grid = "ceil_div(N, 64)", block = 64, args = { "x", "y", "N", f32 "s" } } } },
  },
}
EOF
    lathe tune spec.lua --device host --strategy exhaustive --db m.db -q
    lathe export --db m.db -o w.cu
    builds w.cu -Werror all-warnings -c
    builds w.cu -Werror all-warnings -DLATHE_SELFTEST
    lathe export --db m.db --format torch -o w.py
    sed -n '/^LATHE_SOURCE = /,/^"""$/p' w.py | grep -q '^#pragma pop_macro("N")$'
}

@test "a specification's texts end no comment, no line and no text of what is exported" {
    printf '%s\n' '// r"""x""" \' '#define M 3' 'extern "C" __global__ void k(const float *a, float *y, int n)' '{' \
        '    const int i = blockIdx.x * 64 + threadIdx.x;' '    if (i < n) y[i] = a[i];' '}' '#define n 5' >k.cu
    printf '// the end \\' >>k.cu
    cat >spec.lua <<'LUA'
local function steps() return { launch { "k", grid = "ceil_div(n, 64)", block = 64, args = { "a", "y", "n" } } } end
return problem {
  name = "texts", summary = "it's \"\"\"so\"\"\" */ /* \\ \n caf\xc3\xa9 ??/", dims = { { "n", 1000 } },
  tensors = { { "a", "f32", { [[select("*/??/" == "b", 1,
    n)]] } }, { "y", "f32", { "n" }, output = true } },
  reference = kernel { source = "k.cu", steps = steps() }, tolerance = { atol = 0, rtol = 1e-6 },
  kernels = { { "k", source = "k.cu", steps = steps(), constraints = { { "n > 2", "why */ ??/" } } } },
}
LUA
    lathe tune spec.lua --device host --db t.db -q
    lathe export --db t.db --format torch -o w.py
    python3 -m py_compile w.py
    lathe export --db t.db -o w.cu
    if lathe export --db t.db --format c --name texts -o ./; then
        ${CC:-cc} -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"${CUDA_HOME:-/usr/local/cuda}/include" texts.c
    fi
    builds w.cu -Xcompiler -trigraphs,-Wno-comment -Werror all-warnings -c
    builds w.cu -Xcompiler -trigraphs,-Wno-comment -Werror all-warnings -DLATHE_SELFTEST
}

@test "simt: the file and its self-test build" {
    lathe export --db "$BATS_FILE_TMPDIR/export.db" --problem linear --kernel simt -o w.cu
    ! grep -q cublas_v2 w.cu
    builds w.cu -c
    builds w.cu -DLATHE_SELFTEST
}

@test "epilogue: the file and its self-test build, with cuBLAS" {
    lathe export --db "$BATS_FILE_TMPDIR/export.db" --problem linear --kernel epilogue -o w.cu
    builds w.cu -c
    builds w.cu -DLATHE_SELFTEST -lcublas
}

@test "printf and assert, which NVRTC knows without a header; neither summary nor parameters" {
    cat >said.cu <<'CU'
extern "C" __global__ void plain(const float *x, float *y, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    assert(n > 0);
    if (i < n) y[i] = 2 * x[i];
    if (n < 0) printf("%d\n", n);
}
CU
    cat >said.lua <<'LUA'
local function steps() return { launch { "plain", grid = "ceil_div(n, 64)", block = 64, args = { "x", "y", "n" } } } end
return problem {
  name = "said", dims = { { "n", 1000 } },
  tensors = { { "x", "f32", { "n" } }, { "y", "f32", { "n" }, output = true } },
  reference = kernel { source = "said.cu", steps = steps() }, tolerance = { atol = 0, rtol = 1e-6 },
  kernels = { { "mine", source = "said.cu", steps = steps() } },
}
LUA
    lathe tune said.lua --device host --db said.db -q
    split lathe export --db said.db -o w.cu
    [[ "$errors" == *" ms cold" ]]
    [ "$(head -1 w.cu)" = "// said" ]
    builds w.cu -c
    builds w.cu -DLATHE_SELFTEST
}

@test "the file says where it comes from, and has no path of this machine" {
    lathe export --db "$BATS_FILE_TMPDIR/export.db" --problem linear -o w.cu
    for word in "size          M=8 N=16 K=32" "configuration " "against a reference in double" "not eligible" \
        "campaign 2"; do
        grep -q "$word" w.cu || { echo "lacks: $word"; return 1; }
    done
    ! grep -qF "$TREE" w.cu
    ! grep -q '^#line' w.cu
}

@test "--name: the launcher's; a name that cannot be is refused" {
    lathe export --db "$BATS_FILE_TMPDIR/export.db" --problem linear --name gemm_8 -o w.cu
    grep -q '^extern "C" cudaError_t gemm_8(' w.cu
    grep -q '^extern "C" size_t gemm_8_workspace(' w.cu
    ! grep -q 'lathe_linear' w.cu
    run --separate-stderr lathe export --db "$BATS_FILE_TMPDIR/export.db" --problem linear --name 8gemm
    [ "$status" -eq 2 ]
    [[ "$stderr" == *"'8gemm' cannot be a function's name"* ]]
    run --separate-stderr lathe export --db "$BATS_FILE_TMPDIR/export.db" --problem linear --kernel simt \
        --name linear_simt
    [ "$status" -eq 2 ]
    [[ "$stderr" == *"'linear_simt' is a name of the exported code"* ]]
    for name in EOF errno stdin linux exp select main index malloc assert restrict asm float4 dim3 half std cuInit \
        CUresult; do
        run --separate-stderr lathe export --db "$BATS_FILE_TMPDIR/export.db" --problem linear --kernel simt \
            --name $name
        [ "$status" -eq 2 ] || { echo "$name: $status"; return 1; }
        [[ "$stderr" == "lathe: --name: '$name' is "* && "$stderr" == *"give the launcher another name"* ]] ||
            { echo "$stderr"; return 1; }
    done
    fails 2 "has no launcher" lathe export --db "$BATS_FILE_TMPDIR/export.db" --problem linear --format json --name gemm
}

@test "a problem whose launcher is called as something of the generated code" {
    cp "$TREE/test/specs/faults_reference.cu" k.cu
    for name in device function variant epilogue error f16; do
        cat >$name.lua <<EOF
local function steps()
  return { launch { "scale_reference", grid = "ceil_div(n, 64)", block = 64, args = { "x", "y", "n" } } }
end
return problem {
  name = "$name", dims = { { "n", 100 } }, tensors = { { "x", "f32", { "n" } }, { "y", "f32", { "n" }, output = true } },
  reference = kernel { source = "k.cu", steps = steps() }, tolerance = { atol = 0, rtol = 1e-6 },
  kernels = { { "k", source = "k.cu", workspace = { { "w", "f32", { "n" } } }, steps = steps() } },
}
EOF
        lathe tune $name.lua --device host --db $name.db -q
    done
    fails 2 "the launcher would be called lathe_f16, as a type of the exported code is" lathe export --db f16.db
    lathe export --db f16.db --name half_f16 -o w.cu
    fails 2 "'lathe' is what the exported code's own names begin with" \
        lathe export --db error.db --format c --name lathe -o ./
    for name in device function variant epilogue; do
        lathe export --db $name.db --format c -o ./ || continue     # no NVRTC
        ${CC:-cc} -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"${CUDA_HOME:-/usr/local/cuda}/include" lathe_$name.c
    done
    lathe export --db error.db -o w.cu
    builds w.cu -DLATHE_SELFTEST
}

# What the headers have on this machine beyond what is refused would be seen here: `used` declares each identifier in
# their text that export takes as a function of C's linkage.
@test "--name: what is not refused is one that compilers take" {
    command -v "${CC:-cc}" >/dev/null || skip "no C compiler"
    printf '#include <%s>\n' limits.h math.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h >headers.h
    ${CC:-cc} -E -dM -D_GNU_SOURCE headers.h | sed -n 's/^#define \([A-Za-z][A-Za-z0-9_]*\) .*/\1/p' >macros
    ${CC:-cc} -E -D_GNU_SOURCE headers.h | grep -oE '[A-Za-z][A-Za-z0-9_]* \(' | tr -d ' (' >functions
    sort -u macros functions | shuf -n 60 --random-source="$BATS_TEST_DIRNAME/export.bats" >words
    [ "$(wc -l <words)" -eq 60 ]
    cp headers.h used.c
    while read -r name; do
        lathe export --db "$BATS_FILE_TMPDIR/export.db" --problem linear --kernel simt --name "$name" >/dev/null 2>&1 ||
            continue
        echo "struct taken *$name(struct other *);" >>used.c
    done <words
    sed -i '/^#include <string.h>/a struct taken; struct other;' used.c
    ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -fsyntax-only used.c
}

@test "--name: a word that stands in comments and file names only is free" {
    lathe tune "$TREE/examples/softmax" --device host --size M=2,N=8 --strategy random --trials 1 --db s.db -q
    lathe export --db s.db --name softmax -o w.cu # softmax.cu: Y = softmax of each row of X
    grep -q '^extern "C" cudaError_t softmax(' w.cu
    run --separate-stderr lathe export --db s.db --name softmax_rows
    [ "$status" -eq 2 ]
}

@test "json: the plan, the source and where it comes from, in one document" {
    lathe export --db "$BATS_FILE_TMPDIR/export.db" --problem linear --kernel simt --format json -o w.json
    lathe best --db "$BATS_FILE_TMPDIR/export.db" --problem linear --kernel simt --json >best.json
    python3 - <<'END'
import json
j, best = json.load(open("w.json")), json.load(open("best.json"))[0]
assert j["format"] == "lathe-export" and j["version"] == 1
assert j["trial"] == best and j["configuration"] == best["configuration"] and j["operator"] == best["operator"]
assert j["size"] == {"M": 8, "N": 16, "K": 32} and j["campaign"]["id"] == best["campaign"] and "trials" not in j["campaign"]
assert j["target"]["arch"] == "host" and j["target"]["limits"]["max_threads_per_block"] == 1024
assert [b["name"] for b in j["plan"]["buffers"]][:4] == ["X", "W", "b", "Y"]
assert j["plan"]["steps"][0]["function"] in j["kernel"]["source"]
assert "LATHE_BM=%d" % best["configuration"]["BM"] in j["kernel"]["defines"] and "struct LatheEpilogue" in j["kernel"]["source"]
assert j["baselines"] and j["baselines"][0]["role"] == "baseline"
assert any(s["count"] == len(s["ms"]) > 0 for s in j["samples"])
assert j["specification"]["kernels"]
END
}

# The smallest time is of the first campaign, the newest is the second.
@test "of several problems and sizes it is the newest campaign's, as for explain, and that is said" {
    lathe tune "$TREE/test/specs/faults.lua" --device host --strategy exhaustive --trials 1 --db l.db -q
    for size in M=64,N=256,K=256 M=2,N=4,K=8; do
        lathe tune linear --kernel simt --device host --size $size --strategy random --trials 1 --db l.db -q
    done
    lathe tune linear --kernel simt --device host --size M=64,N=256,K=256 --strategy random --trials 1 --db l.db -q
    sqlite3 l.db "UPDATE trial SET score_ms = campaign_id WHERE score_ms IS NOT NULL AND number > 0"
    split lathe export --db l.db -o w.cu
    grep -q '^//   size          M=64 N=256 K=256$' w.cu
    [[ "$errors" == "wrote w.cu: "*"of linear M=64 N=256 K=256, as campaign 4 is, the newest with a verified result; \
2 other problems or sizes are there: choose with --problem, --size or --campaign \
(\`lathe best --db l.db\` lists them)"* ]]
    lathe explain --db l.db | grep -q '^trial .* of campaign 4: simt, linear'
    split lathe export --db l.db --format json
    [[ "$errors" == "of linear M=64 N=256 K=256, as campaign 4 is, "* ]]
    # of the campaigns of that problem and size the best
    split lathe export --db l.db --problem linear -o w.cu
    [[ "$errors" == "wrote w.cu: trial "*" of campaign 2, "*"; 1 other problem or size is there: "* ]]
    split lathe export --db l.db --size N=4 -o w.cu
    [[ "$errors" != *"the newest"* && "$(cat w.cu)" == *"size          M=2 N=4 K=8"* ]]
    split lathe export --db l.db --problem faults -o w.cu
    [[ "$errors" == "wrote w.cu: trial 1 of campaign 1, "* && "$errors" != *"the newest"* ]]
    split lathe export --db l.db --campaign 3 -o w.cu
    [[ "$errors" != *"the newest"* && "$(cat w.cu)" == *"size          M=2 N=4 K=8"* ]]
    # the list of best has all, and says what an export takes
    split lathe best --db l.db
    [[ "$out" == *"faults"*"linear"* ]]
    [[ "$errors" == *"times of different problems or sizes do not compare: \`lathe export --db l.db\` takes the best of \
linear M=64 N=256 K=256, as campaign 4 is, "* ]]
    split lathe best --db l.db --problem faults
    [ -z "$errors" ]
}

@test "devices of unlike names: it is the newest campaign's, and that is said; of one that is named its own" {
    for i in 1 2 3; do
        lathe tune linear --kernel simt --device host --size M=2,N=4,K=8 --strategy random --trials 1 --db d.db -q
    done
    sqlite3 d.db "INSERT INTO device SELECT 2, handle, kind, 'Other CPU', uuid, arch, driver, toolchain, host, target
                      FROM device WHERE id = 1;
                  UPDATE campaign SET device_id = 2 WHERE id = 1;
                  UPDATE trial SET score_ms = campaign_id WHERE score_ms IS NOT NULL AND number > 0"
    here="$(sqlite3 d.db "SELECT name FROM device WHERE id = 1")"
    split lathe export --db d.db -o w.cu
    [[ "$errors" == "wrote w.cu: trial "*" of campaign 2, "*"of linear M=2 N=4 K=8 on $here, as campaign 3 is, the newest \
with a verified result; 1 other problem, size or device is there: choose with --problem, --size, --device or --campaign \
(\`lathe best --db d.db\` lists them)"* ]]
    split lathe best --db d.db
    [[ "$errors" == *"times of different problems, devices or sizes do not compare: \`lathe export --db d.db\` takes the \
best of linear M=2 N=4 K=8 on $here, as campaign 3 is, the newest with a verified result, unless --problem, --size, --device or --campaign \
says otherwise"* ]]
    split lathe export --db d.db --device "Other CPU" -o w.cu
    [[ "$errors" == "wrote w.cu: trial "*" of campaign 1, "* && "$errors" != *"the newest"* ]]
    split lathe export --db d.db --device host -o w.cu
    [[ "$errors" == "wrote w.cu: trial "*" of campaign 2, "*" on $here, as campaign 3 is, "* ]]
}

@test "what a final refused wins in no other campaign, and that is said" {
    late() { lathe tune "$TREE/test/specs/late.lua" --device host --strategy exhaustive --db r.db -q "$@" 2>/dev/null; }
    value() { lathe query --db r.db --csv "$1" | tail -1 | tr -d '\r'; }
    late --top 0
    [ "$(value "SELECT count(*) FROM trial WHERE score_ms IS NOT NULL")" = 3 ]
    late
    split lathe tune "$TREE/test/specs/late.lua" --device host --strategy exhaustive --db r.db -q --top 0
    [ "$(value "SELECT group_concat(campaign_id || configuration, ' ') FROM trial WHERE score_ms IS NOT NULL")" = \
        "1AFTER=0 2AFTER=0 3AFTER=0" ]
    sqlite3 r.db "UPDATE trial SET time_ms = 1e-6 WHERE campaign_id = 3 AND configuration = 'AFTER=40'"
    local id="$(value "SELECT id FROM trial WHERE campaign_id = 3 AND configuration = 'AFTER=40'")"
    local why="refused by the final of campaign 2 (trial $(value "SELECT id FROM trial WHERE campaign_id = 2 \
AND configuration = 'AFTER=40'")): wrong: right when verified, wrong "
    split lathe export --db r.db -o w.cu
    [[ "$status" -eq 0 && "$errors" == *"trial $id (1e-06 ms) is left out: $why"* ]]
    grep -q "AFTER=0$" w.cu
    split lathe export --db r.db --campaign 3 -o w.cu
    [[ "$errors" == *"trial $id (1e-06 ms) is left out: $why"* ]]
    fails 1 "trial $id may not win, so it is not exported: $why" lathe export --db r.db --trial "$id"
    for form in "" --json --csv; do
        split lathe best --db r.db $form
        [[ "$out" != *"AFTER=40"* && "$errors" == *"trial $id (1e-06 ms) is left out: $why"* ]]
    done
    [[ "$(lathe explain "$id" --db r.db)" == *"  ok: $why"* ]]
    [[ "$(lathe explain --db r.db)" == *"AFTER=0"*"tried: 2 differ in one parameter, 0 of them faster"*" ok, may not win"* ]]
    [[ "$(lathe show 3 --db r.db)" == *"$why"* ]]
    # nothing else is there
    sqlite3 r.db "UPDATE trial SET score_ms = NULL, outcome = 'wrong' WHERE score_ms IS NOT NULL"
    for command in best export; do
        split lathe $command --db r.db
        [[ "$status" -eq 1 && "$errors" == "trial $id (1e-06 ms) is left out: $why"*"lathe: no verified configuration "* ]]
    done
}

@test "the newest campaign has nothing verified: an older one's winner is said to be that" {
    lathe tune "$TREE/test/specs/faults.lua" --device host --strategy exhaustive --trials 1 --db o.db -q
    split lathe export --db o.db -o w.cu
    [[ "$errors" != *"the newest"* ]]
    lathe tune linear --kernel simt --device host --size M=2,N=4,K=8 --strategy random --trials 1 --db o.db -q
    sqlite3 o.db "UPDATE trial SET score_ms = NULL, outcome = 'wrong' WHERE campaign_id = 2 AND number > 0"
    split lathe export --db o.db -o w.cu
    [[ "$errors" == "wrote w.cu: trial 1 "*"of faults N=1000, as campaign 1 is, the newest with a verified result" ]]
}

@test "a winner that was in no final is told, on stderr and in what is written; one that was is not" {
    local what="was in no final: verified once, not run on and on, not with delays"
    lathe tune linear --kernel simt --device host --size M=2,N=4,K=8 --strategy random --trials 3 --top 1 --db f.db -q
    for format in cu json torch; do
        split lathe export --db f.db --format $format -o w.$format
        [[ "$errors" != *"in no final"* ]] || { echo "$errors"; return 1; }
        not grep -q "in no final" w.$format
    done
    split lathe best --db f.db
    [ -z "$errors" ]
    lathe export --db f.db --format json >w.json
    [ "$(json w.json "json_type(j, '$.note')")" = null ]

    # the one that was in it, left out: what is next was not
    other="$(lathe query --db f.db --csv "SELECT min(id) FROM trial WHERE number > 0 AND final_rank IS NULL" | tail -1 |
        tr -d '\r')"
    split lathe export --db f.db --trial "$other" -o w.cu
    [[ "$errors" == *"warning: trial $other $what" ]]

    lathe tune linear --kernel simt --device host --size M=2,N=4,K=8 --strategy random --trials 1 --top 0 --db n.db -q
    for format in cu json torch; do
        split lathe export --db n.db --format $format -o w.$format
        [[ "$errors" == *"warning: trial "*" $what" ]] || { echo "$errors"; return 1; }
        grep -q "$what" w.$format
    done
    [ "$(json w.json "json_extract(j, '$.note')")" = "$what" ]
    for form in "" --json --csv; do
        split lathe best --db n.db $form
        [[ "$errors" == "warning: trial "*" $what" && "$out" != *"$what"* ]]
    done
    split lathe export --db n.db --format bundle -o w.lathe
    if [[ "$errors" == *"lathe: no NVRTC, "* ]]; then
        [ "$status" -eq 5 ]
    else
        [[ "$status" -eq 0 && "$errors" == *"warning: trial "*" $what" ]]
        grep -qa "$what" w.lathe
        split lathe export --db n.db --format c -o w
        [[ "$errors" == *"warning: trial "*" $what" ]]
        grep -q "$what" w.c
    fi
}

@test "what is exported promises no more than its constraints" {
    lathe export --db "$BATS_FILE_TMPDIR/export.db" --problem linear -o w.cu
    not grep -q "never gives" w.cu
    grep -q "verified at the size above; at another they are as right as" w.cu
    not grep -q "never gives" <(lathe help export)
}
