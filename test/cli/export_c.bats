# export_c.bats: `lathe export --format c`: the files that it writes compile as strict C11, the example with them where
# CUDA's headers are. What they launch: test/unit/cli/test_export_c.c.

load helper

setup_file() {
    TREE="$(cd "${BATS_TEST_DIRNAME}/../.." && pwd)"
    LATHE_BIN="$(realpath "${LATHE_BIN:-$TREE/build/lathe}")"
    export LATHE_KERNELS="$TREE/kernels" TREE LATHE_BIN
    cd "$BATS_FILE_TMPDIR"
    gunzip -c "$TREE/test/data/linear-h200.db.gz" >h200.db
    "$LATHE_BIN" tune "$TREE/test/specs/faults.lua" --device host --strategy exhaustive --trials 1 --db host.db -q
    for size in 8 12; do
        "$LATHE_BIN" tune linear --device host --size M=$size,N=16,K=32 --kernel simt --strategy random --trials 3 \
            --db host.db -q
    done
}

# export OPTION...: w.c and w.h; skips where there is no NVRTC
exported() {
    run lathe export --format c "$@"
    if [[ "$output" == *"no NVRTC"* ]]; then
        [ "$status" -ne 0 ] && [[ "$output" == *"Install NVRTC"* ]] && skip "no NVRTC here"
    fi
    if [ "$status" -ne 0 ]; then echo "$output"; return 1; fi
}

strict() { ${CC:-cc} -std=c11 -Wall -Wextra -Werror -pedantic -I"$TREE/test/unit/cli/driver" "$@"; }

@test "c: the winner of a GPU, and a plain kernel, as strict C11" {
    exported --db "$BATS_FILE_TMPDIR/h200.db" -o w
    [[ "$output" == *"1 configuration, and a plain kernel"* ]]
    strict -c w.c -o w.o
    grep -q 'for M=128 N=32768 K=32768 on NVIDIA H200 (sm_90a)' w.c
    printf '#include "w.h"\nint main(void) { return 0; }\n' >main.c
    strict -c main.c -o main.o
    ! grep -qF "$TREE" w.c
}

# more TEXT: the winner of the H200 as w.c, with this after its kernel's source
more() {
    cp "$BATS_FILE_TMPDIR/h200.db" more.db
    sqlite3 more.db "UPDATE problem SET specification = json_set(specification, '\$.kernels[0].source_text',
        json_extract(specification, '\$.kernels[0].source_text') || char(10) || '$1')"
    exported --db more.db --name g -o w
}

# The capability that the H200's winner has PTX for; nothing: it has none.
later() { awk -F', ' '/"NVIDIA H200", 90, 0,/ && $7 >= 0 { print $8 }' w.c; }

# The images of w.c that are PTX, as 0.ptx, ...
ptx() {
    python3 - w.c <<'END'
import re, sys
found = re.findall(r"lathe_image_\d+\[\d+\] = \{([^}]*)\}", open(sys.argv[1]).read())
texts = [t for t in (bytes(int(x) for x in f.split(",") if x.strip()) for f in found) if t.startswith(b"//")]
for i, text in enumerate(texts):
    open("%d.ptx" % i, "wb").write(text.rstrip(b"\0"))
END
}

@test "c: a winner of a GPU with code of its own (sm_90a) has PTX for newer ones, which they load" {
    exported --db "$BATS_FILE_TMPDIR/h200.db" -o w
    [[ "$output" != *"no PTX"* ]]
    [ "$(later)" = 90 ]
    ptx
    [ "$(grep -h '^.target' 0.ptx 1.ptx | tr '\n' ' ')" = ".target sm_90 .target sm_80 " ]
    command -v ptxas >/dev/null || skip "no ptxas here"
    for arch in sm_90 sm_100 sm_120; do
        ptxas --help | grep -q "'$arch'" || skip "this ptxas does not know $arch"
        for file in 0.ptx 1.ptx; do ptxas -arch $arch $file -o image; done
    done
}

@test "c: no PTX of what only that GPU has, or where another #if would be taken; that is said" {
    more 'extern "C" __global__ void more() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }'
    [[ "$output" == *"no PTX of kernel simt for GPUs newer than NVIDIA H200: "*"wgmma"*"sm_90"* ]]
    [ -z "$(later)" ]
    more 'extern "C" __global__ void more(int *x) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  *x = 1;
#else
  *x = 2;
#endif
}'
    [[ "$output" == *"no PTX of kernel simt"*": for compute_90 its source compiles to other code"* ]]
    [ -z "$(later)" ]
    # what depends on the capability alone is the same
    more 'namespace { __device__ int count; }
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void more(int *x) { *x = count++; }
#endif'
    [[ "$output" != *"no PTX"* ]]
    [ "$(later)" = 90 ]
}

@test "c: the best of each size, in a directory; a program's own name" {
    mkdir -p out
    exported --db "$BATS_FILE_TMPDIR/host.db" --problem linear --name gemm -o out
    [[ "$output" == *"2 configurations"* ]]
    grep -q '^CUresult gemm_launch(const struct gemm \*lathe, CUdeviceptr X, ' out/gemm.h
    grep -q 'tuned for M=8 N=16 K=32' out/gemm.c
    grep -q 'tuned for M=12 N=16 K=32' out/gemm.c
    strict -Iout -c out/gemm.c -o w.o
    exported --db "$BATS_FILE_TMPDIR/host.db" --problem linear --size M=8 --name gemm -o out/one.c
    [[ "$output" == *"1 configuration,"* ]]
}

@test "c: a directory that is to be made, and no name at all" {
    exported --db "$BATS_FILE_TMPDIR/h200.db" --name gemm -o new/dir/
    [ -s new/dir/gemm.c ] && [ -s new/dir/gemm.h ]
    exported --db "$BATS_FILE_TMPDIR/h200.db" -o other/.c
    [ -s other/lathe_linear.h ] && [ ! -e other/.h ]
    exported --db "$BATS_FILE_TMPDIR/h200.db" -o .h
    [ -s lathe_linear.c ] && [ ! -e .h ]
    touch file
    fails 7 "file" lathe export --format c --db "$BATS_FILE_TMPDIR/h200.db" -o file/
}

@test "c: the example is built where CUDA's headers are" {
    [ -e /usr/local/cuda/include/cuda.h ] && [ -e /usr/local/cuda/lib64/stubs/libcuda.so ] ||
        skip "no CUDA toolkit here"
    exported --db "$BATS_FILE_TMPDIR/host.db" --problem linear --name gemm -o gemm
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -pedantic -I/usr/local/cuda/include -I. "$TREE/examples/c/main.c" gemm.c \
        -o main \
        -L/usr/local/cuda/lib64/stubs -lcuda -lm
}

@test "c: a problem whose reference is a kernel" {
    exported --db "$BATS_FILE_TMPDIR/host.db" --problem faults -o w
    grep -q scale_reference w.c
    strict -c w.c -o w.o
}

@test "c: what cannot be exported is refused, and says why" {
    fails 2 "-o NAME writes NAME.c and NAME.h" lathe export --db "$BATS_FILE_TMPDIR/h200.db" --format c
    fails 2 "there are results of several problems" lathe export --db "$BATS_FILE_TMPDIR/host.db" --format c -o w
    fails 2 "'EOF' is a name that the headers" lathe export --db "$BATS_FILE_TMPDIR/h200.db" --format c --name EOF -o w
    fails 2 "'sem' is what functions of C's library begin with" lathe export --db "$BATS_FILE_TMPDIR/h200.db" \
        --format c --name sem -o w
    run lathe export --db "$BATS_FILE_TMPDIR/h200.db" --kernel epilogue --format c -o w
    [ "$status" -eq 1 ]
    [[ "$output" == *"left out: kernel epilogue calls cuBLAS"*"every kernel selected calls cuBLAS"* ]]
    exported --db "$BATS_FILE_TMPDIR/host.db" --trial 1 -o 'a b'       # NVRTC is here
    fails 2 "no C source can include a header of that name" lathe export --db "$BATS_FILE_TMPDIR/host.db" --trial 1 \
        --format c -o 'a"b'
    [ ! -e 'a"b.c' ]
    TMPDIR=$PWD/absent fails 7 "$PWD/absent/lathe-export-" lathe export --db "$BATS_FILE_TMPDIR/host.db" --trial 1 \
        --format c -o w
}
