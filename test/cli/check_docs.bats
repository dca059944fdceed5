# check_docs.bats: scripts/check_docs, what runs a document's commands where there is a GPU.

load helper

@test "each command is run in one folder, one that fails is told with what it said, and is the exit code" {
    printf 'x\n\n```sh\nlathe space examples/softmax --count >count\ngrep -q rows count   # of the one before\n```\n\n```sh gpu\nfalse\n```\n' >a.md
    run "$TREE/scripts/check_docs" --marks none "$PWD/a.md"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"ok "*"a.md: grep -q rows count"*"2 commands, 0 failed"* ]]
    run "$TREE/scripts/check_docs" --marks gpu --keep kept "$PWD/a.md"
    [ "$status" -eq 1 ]
    [[ "$output" == *"failed "*"a.md: false"*"3 commands, 1 failed (with: gpu)"* ]]
    [ -s kept/count ]
    printf '```sh\nlathe export --format json | cat\n```\n' >piped.md       # there is no database
    run "$TREE/scripts/check_docs" --marks none "$PWD/piped.md"
    [ "$status" -eq 1 ]
    [[ "$output" == *"failed "*"lathe export --format json | cat"* ]]
    run "$TREE/scripts/check_docs" --marks none "$PWD/a.md" "$PWD/absent.md"
    [ "$status" -eq 1 ]
    [[ "$output" == *"failed  $PWD/absent.md: it has no command, or cannot be read"* ]]
    printf '```sh gpu\nfalse\n```\n' >gpu.md
    run "$TREE/scripts/check_docs" --marks none "$PWD/gpu.md"
    [ "$status" -eq 0 ]
    [[ "$output" == *"left out"*"gpu.md: what all its commands need is not here"*"0 commands, 0 failed"* ]]
    run "$TREE/scripts/check_docs" --nosuch
    [ "$status" -eq 2 ]
}
