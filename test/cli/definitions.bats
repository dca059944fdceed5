# definitions.bats: search spaces in JSON, with constraints in Python's syntax, wherever a specification is read.
load helper

SPACES="$TREE/test/data/spaces"

@test "an empty space: all that refuses is told, what refuses least too" {
    fails 1 "blocks_per_sm == 7 " lathe space "$SPACES/hotspot.json" --where "blocks_per_sm == 7" --target host
    [[ "$errors" == *"<= 102400: 65067 combinations"* ]]
}

@test "the eight definitions have exactly as many valid configurations as they say" {
    for file in "$SPACES"/*.json; do
        case "$file" in *.t1.json) continue ;; esac
        lathe space "$file" --count --json >count
        [ "$(json count "j ->> 'kernels' ->> 0 ->> 'valid'")" = "$(json "$file" "j ->> 'valid'")" ]
        [ "$(json count "j ->> 'kernels' ->> 0 ->> 'cartesian'")" = "$(json "$file" "j ->> 'cartesian'")" ]
    done
}

@test "a T1 input, whose values are lists of Python" {
    lathe space "$SPACES/hotspot_milo.t1.json" --count >count
    grep -Eq "^hotspot +10 +4440000 +82984 " count
    [ "$(head -1 count)" = "hotspot on any device" ]
    lathe space "$SPACES/hotspot_milo.t1.json" --explain block_size_x=1024,block_size_y=32 >explained || true
    grep -q "block_size_x \* block_size_y <= 1024" explained
}

# Random constraints over few values: Python itself says which combinations are valid. One that raises an exception
# there refuses here.
@test "constraints have the values that Python gives them" {
    cat >make.py <<'PY'
import itertools, json, random, sys
random.seed(int(sys.argv[1]))
params = {"a": [1, 2, 3, 4, 8], "b": [-3, 0, 2, 5], "x": [0.1, 0.5, -1.5, 3.0], "t": [True, False], "w": ["one", "two"]}
def number(d):
    if d == 0 or random.random() < 0.2:
        return random.choice(["a", "b", "x", "a", "b", "2", "7", "-3", "0.25", "t", "1e2"])
    k = random.randrange(12)
    if k < 8:
        return f"{number(d - 1)} {random.choice(['+', '-', '*', '/', '//', '%', '%', '//'])} {number(d - 1)}"
    return [f"({number(d - 1)})", f"-{number(0)}", f"({condition(d - 1)})", f"({number(d - 1)} {random.choice(['and', 'or'])} {number(d - 1)})"][k - 8]
def condition(d):
    k = random.randrange(10) if d > 0 else random.choice([0, 1, 2, 9])
    if k < 3:
        return f"{number(d)} {random.choice(['<', '<=', '>', '>=', '==', '!='])} {number(d)}"
    if k == 3:
        return f"{number(d - 1)} {random.choice(['<', '<=', '!='])} {number(d - 1)} {random.choice(['<', '>=', '=='])} {number(d - 1)}"
    if k == 4:
        return f"{number(d - 1)} {random.choice(['in', 'not in'])} {random.choice(['[{}, {}]', '({}, {},)', '{{{}, {}}}'])}".format(number(0), number(0))
    if k == 5:
        return f"not {condition(d - 1)}" if random.random() < 0.5 else f"not ({condition(d - 1)})"
    if k < 8:
        return f"{condition(d - 1)} {random.choice(['and', 'or'])} {condition(d - 1)}"
    if k == 8:
        return f"({condition(d - 1)})"
    return random.choice(["w == 'two'", "w in ['two', \"x\"]", "t", "not t", "a", "w != 3", "t == 1"])
def holds(text, values):
    try:
        return bool(eval(text, {}, values))
    except (ZeroDivisionError, OverflowError):
        return False
for i in range(60):
    constraints = [condition(3) for _ in range(2)]
    valid = sum(all(holds(c, dict(zip(params, v))) for c in constraints) for v in itertools.product(*params.values()))
    json.dump({"parameters": params, "constraints": constraints, "valid": valid}, open(f"d{i}.json", "w"))
PY
    python3 -W ignore make.py 1
    some=0
    for file in d*.json; do
        valid="$(json "$file" "j ->> 'valid'")"
        split lathe space "$file" --list
        if [ "$valid" = 0 ]; then
            [ "$status" = 1 ] || { cat "$file"; return 1; }
        else
            [ "$(wc -l <.out)" = "$valid" ] || { cat "$file"; echo "$errors"; wc -l .out; return 1; }
            some=$((some + 1))
        fi
    done
    [ "$some" -gt 20 ]
}

@test "what a definition may not say is refused by name; so is running one" {
    echo '{"parameters": {"a": [1, 2]}, "constraints": ["a > 0", "max(a, 2) == 2"]}' >d.json
    fails 2 "d.json: constraint 2: \`max(a, 2) == 2\`: column 1: \`max(...)\` (a call) is not read" lathe space d.json
    echo '{"parameters": {"a": [1, 2]}, "constraints": ["a / 0 > 1"]}' >d.json
    fails 1 "a / 0 > 1" lathe space d.json
    echo '{"parameters": {"a": [1, 2]}}' >d.json
    fails 2 "d.json: type=f16: a definition in JSON asks for no setting" lathe space d.json --set type=f16
    fails 2 "d has no dimension 'M'; it has none" lathe space d.json --size M=3
    fails 2 "d.json is a space alone, without a kernel to run: check needs one" lathe check d.json
    fails 2 "d.json is a space alone" lathe tune d.json
    fails 2 "d.json is a space alone" lathe verify d.json --kernel d
    for command in check verify; do [ "$(lathe help $command | grep -c 'space in JSON')" -eq 0 ]; done # nor says so
    lathe help space | grep -q 'space in JSON'
    fails 2 "no such specification file" lathe space e.json
    lathe space d.json --where "a > 1" --list >list
    [ "$(cat list)" = "d a=2" ]
}

@test "spaces of no and of one configuration, and values that are no use" {
    echo '{"parameters": {"a": [1, 2], "b": [0, 4]}, "constraints": ["a > 1", "a < b - a * 2"]}' >empty.json
    fails 1 "kernel empty has no valid configuration among 4 combinations; refused by" lathe space empty.json
    [[ "$errors" == *"a > 1: 2 combinations"* ]]
    fails 1 "kernel empty has no valid configuration" lathe space empty.json --sample 3
    echo '{"parameters": {"a": [5]}, "constraints": ["a"]}' >one.json
    [ "$(lathe space one.json --list)" = "one a=5" ]
    [ "$(lathe space one.json --sample 9)" = "one a=5" ]
    [ "$(lathe space one.json --explain a=5 | head -2)" = "one a=5"$'\n'"valid on any device" ]
    echo '{"parameters": {}}' >none.json
    [ "$(lathe space none.json --count --json | grep -c '"valid": 1,')" = 1 ]
    python3 -c "import json; json.dump({'parameters': {'a': list(range(5000))}}, open('many.json', 'w'))"
    fails 2 "params.a: 5000 entries, and at most 4096 are allowed" lathe space many.json
    python3 -c "import json; json.dump({'parameters': {'a': list(range(70000))}}, open('many.json', 'w'))"
    fails 2 "parameter a: 70000 values, and at most 65536 are allowed" lathe space many.json
    python3 -c "import json; json.dump({'parameters': {'p%d' % i: [1, 2] for i in range(70)}}, open('wide.json', 'w'))"
    fails 2 "params: 70 entries, and at most 64 are allowed" lathe space wide.json
    python3 -c "print('{\"parameters\": ' * 5000)" >deep.json
    fails 2 "deep.json: line 1" lathe space deep.json
    echo '{"ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Values": "range(0, 10**12)"}]}}' >range.json
    fails 2 "parameter a: Values: \`range(0, 10**12)\`: column 6: more than 65536 values" lathe space range.json
    fails 2 "absent/x.json: no such specification file" lathe space absent/x.json
}

# 10^12 combinations and more, where the constraints leave structure
@test "huge spaces with structure are counted" {
    python3 - <<'PY'
import json
sizes = [2 ** i for i in range(10)]
json.dump({"parameters": {"p%d" % i: sizes for i in range(14)},
           "constraints": [" * ".join("p%d" % i for i in range(14)) + " <= 4096",
                           "p0 + p1 + p2 > 5 or p13 in (1, 2)"]}, open("product.json", "w"))
def count(n, left):     # tuples of n exponents below 10 with a sum of at most `left`
    ways = [1] + [0] * left
    for _ in range(n):
        ways = [sum(ways[s - e] for e in range(10) if e <= s) for s in range(left + 1)]
    return ways
few = [(a, b, c) for a in range(10) for b in range(10) for c in range(10) if 2 ** a + 2 ** b + 2 ** c <= 5]
total = sum(count(14, 12))
ten = count(10, 12)
excluded = sum(sum(ten[:12 - e - a - b - c + 1]) for a, b, c in few for e in range(2, 10) if e + a + b + c <= 12)
open("wanted", "w").write(str(total - excluded))
PY
    lathe space product.json --count --json >count
    [ "$(json count "j ->> 'kernels' ->> 0 ->> 'valid'")" = "$(cat wanted)" ]
    [ "$(json count "j ->> 'kernels' ->> 0 ->> 'cartesian'")" = 100000000000000 ]
}

@test "a space alone can be written in Lua too" {
    cat >s.lua <<'LUA'
return space { name = "s", params = { { "a", { 1, 2, 3 } }, { "b", { "x", "y" }, when = "a > 1" } },
               let = { { "c", "a * 2" } }, constraints = { "c < 6" } }
LUA
    lathe space s.lua --list >list
    [ "$(cat list)" = "s a=1"$'\n'"s a=2 b=x"$'\n'"s a=2 b=y" ]
}

# Windows' editors put a byte order mark before UTF-8.
@test "a byte order mark before a definition, constraints, a recording, a specification or a kernel is passed over" {
    mark=$'\xef\xbb\xbf'
    { printf '%s' "$mark"; cat "$SPACES/hotspot.json"; } >hotspot.json
    [ "$(lathe space hotspot.json --count)" = "$(lathe space "$SPACES/hotspot.json" --count)" ]
    { printf '%s' "$mark"; gzip -dc "$TREE/test/data/recorded/pnpoly-RTX_3090.json.gz"; } >recording.json
    printf '%s{"constraints": ["tile_size == 20", "block_size_x in [32, 64]"]}' "$mark" >constraints.json
    split lathe tune constraints.json --device replay:recording.json --db none --strategy random --trials 1000
    [[ "$out" == *"24 trials in "* ]]
    cp -r "$TREE/test/cli/kernels/tiny" marked
    for file in marked/*; do { printf '%s' "$mark"; cat "$TREE/test/cli/kernels/tiny/${file#*/}"; } >"$file"; done
    lathe tune ./marked/spec.lua --device host --where 'FLAW == "none"' --trials 2 --db m.db -q >/dev/null
    # half a mark is none
    printf '\xef\xbb{"parameters": {"a": [1]}}' >half.json
    fails 2 "half.json: line 1" lathe space half.json --count
}
