# doctor.bats: what is found on this machine, whatever it has.
load helper

@test "doctor names each thing it looks for" {
    split lathe doctor
    [ "$status" -eq 0 ] || [ "$status" -eq 4 ]
    for word in "CUDA driver" NVRTC cuBLAS "host compiler" specifications strategies "host device:"; do
        [[ "$out" == *"$word"* ]]
    done
}

@test "doctor without a compiler or a GPU: exit 4, and what to do" {
    split lathe doctor --json
    [ "$(json .out "j ->> 'cuda_usable'")" = 0 ] || skip "this machine has a GPU"
    mkdir bin
    split env PATH="$PWD/bin" CXX= "$LATHE_BIN" doctor
    [ "$status" -eq 4 ]
    [[ "$out" == *"what to do:"* ]]
    [[ "$errors" == "lathe: no device is usable"* ]]
}

@test "doctor as JSON" {
    split lathe doctor --json
    [ "$(keys .out '$')" = "cuda_usable default_device found host_usable version" ]
    [ "$(keys .out '$.found[0]')" = "advice detail found what" ]
    [ "$(json .out "(SELECT count(*) FROM json_each(j, '$.found') WHERE value ->> 'what' = 'specifications' \
                     AND value ->> 'found' AND instr(value ->> 'detail', 'linear'))")" = 1 ]
}
