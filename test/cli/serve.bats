# serve.bats: `lathe serve` on 127.0.0.1: its answers, whom it refuses, and a page that renews itself.
load helper

needs_charts() {
    "$LATHE_BIN" report --db none -o x 2>&1 | grep -q "without the chart library" &&
        skip "built without the chart library (npm)"
    return 0
}

# begin DATABASE: serves it; $url
begin() {
    "$LATHE_BIN" serve --db "$1" --port 0 2>serve.log 3>&- &
    server=$!
    until_true 20 grep -q '^serving' serve.log
    url="http://127.0.0.1:$(sed -n 's/.*127\.0\.0\.1:\([0-9]*\).*/\1/p' serve.log)"
}

teardown() {
    [ -z "${server:-}" ] || kill "$server" 2>/dev/null || true
}

# ask PATH [METHOD [HEADER VALUE]]: the status, then the headers, in file `head`; the body in file `body`
ask() {
    python3 - "$url" "$@" <<'PY'
import http.client, sys
url, path = sys.argv[1:3]
c = http.client.HTTPConnection(url[7:], timeout=60)
headers = {sys.argv[4]: sys.argv[5]} if len(sys.argv) > 5 else {}
c.request(sys.argv[3] if len(sys.argv) > 3 else "GET", path, headers=headers)
r = c.getresponse()
open("body", "wb").write(r.read())
open("head", "w").write("%d\n%s" % (r.status, r.headers))
PY
    code="$(head -n 1 head)"
}

@test "serve: pages, data, tags" {
    needs_charts
    gzip -dc "$TREE/test/data/linear-h200.db.gz" >h200.db
    sum="$(sha256sum h200.db)"
    begin h200.db
    ask /
    [ "$code" = 200 ]
    grep -q 'data-live="/campaign/3.json"' body
    grep -qi '^content-type: text/html' head
    grep -qi '^x-content-type-options: nosniff' head
    ask /campaign/1
    [ "$code" = 200 ]
    grep -q 'data-live="/campaign/1.json"' body
    ask /campaign/1.json
    [ "$code" = 200 ]
    [ "$(json body "json_extract(j, '$.campaigns[0].id')")" = 1 ]
    [ "$(json body "json_array_length(j, '$.list')")" = 3 ]
    tag="$(sed -n 's/^[Ee][Tt]ag: //p' head)"
    [ "\"$(json body "json_extract(j, '$.tag')")\"" = "$tag" ]
    ask /campaign/1.json GET If-None-Match "$tag"
    [ "$code" = 304 ]
    [ ! -s body ]
    ask /campaign/1.json GET If-None-Match '"other"'
    [ "$code" = 200 ]
    ask / HEAD
    [ "$code" = 200 ]
    [ ! -s body ]
    # the database is as it was
    [ "$(sha256sum h200.db)" = "$sum" ]
}

@test "serve: what it refuses" {
    needs_charts
    gzip -dc "$TREE/test/data/linear-h200.db.gz" >h200.db
    begin h200.db
    ask / GET Host evil.example
    [ "$code" = 403 ]
    not grep -q linear body
    ask / GET Host "localhost.evil.example:80"
    [ "$code" = 403 ]
    ask / GET Host localhost
    [ "$code" = 200 ]
    for method in POST PUT DELETE OPTIONS; do
        ask / $method
        [ "$code" = 405 ]
    done
    for path in /campaign/9 /campaign/0 /campaign/1x /campaign/ /campaign/99999999999999999999999999 /../../etc/passwd \
        /h200.db //; do
        ask "$path"
        [ "$code" = 404 ]
    done
    fails 7 "cannot listen on 127.0.0.1" lathe serve --db h200.db --port "${url##*:}"
    fails 2 "--allow-others" lathe serve --db h200.db --listen 0.0.0.0
    fails 2 "numeric IPv4" lathe serve --db h200.db --listen localhost
    fails 6 "there is no such database" lathe serve --db absent.db
    # a signal ends it well
    kill -TERM "$server"
    wait "$server"
    server=
}

@test "serve: a page renews itself while the campaign goes on" {
    needs_charts
    python3 -c "import sys; sys.path.insert(0, '$TREE/test/browser'); import chromium; sys.exit(not chromium.find())" ||
        skip "there is no Chromium (apt-get install chromium)"
    lathe tune linear --size M=48,N=80,K=96 --kernel simt --strategy random --trials 3 --seed 1 --top 1 --db host.db
    begin host.db
    python3 "$TREE/test/browser/check_report.py" live "$url/" 3 6 "'$LATHE_BIN' tune --resume 1 --trials 6 --db host.db"
}

@test "serve: a page asks at most a tenth of the time" {
    needs_charts
    python3 -c "import sys; sys.path.insert(0, '$TREE/test/browser'); import chromium; sys.exit(not chromium.find())" ||
        skip "there is no Chromium (apt-get install chromium)"
    gzip -dc "$TREE/test/data/linear-h200.db.gz" >h200.db
    begin h200.db
    python3 "$TREE/test/browser/check_report.py" patient "$url/campaign/1"
}
