#!/usr/bin/env bash
# A whole study over loopback: every device asks for a place, waits for its round, makes its report and sends it; each step is
# durable before it is answered. SQLite, then PostgreSQL in a temporary cluster. Clients run on the same machine.
#
#   benchmarks/collect.sh [reports] [connections]
set -euo pipefail
cd "$(dirname "$0")/.."
reports=${1:-60000} connections=${2:-64}
# The variable DPGLM names another binary.
dpglm="${DPGLM:-${CARGO_TARGET_DIR:-target}/release/dpglm}"
[ -x "$dpglm" ] || cargo build --release -p dpglm-cli --features collect --locked
dpglm=$(realpath "$dpglm")
folder=$(mktemp -d /tmp/dpglm-collect-XXXXXX)
chmod 755 "$folder"
postgres=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
[ -n "$postgres" ] || postgres=$(dirname "$(command -v initdb)")
as() { if [ "$(id -u)" = 0 ]; then runuser -u nobody -- "$@"; else "$@"; fi; }
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ ! -d "$folder/pg/data" ] || as "$postgres/pg_ctl" -D "$folder/pg/data" -m immediate stop >/dev/null 2>&1 || true
    rm -rf "$folder"
}
trap finish EXIT
cd "$folder"

address=127.0.0.1:$((20000 + RANDOM % 20000))
devices=$((reports * 11 / 10)) # rounds are drawn from tokens
cat > study.toml <<STUDY
version = 2
service = "http://$address"
expires = 2099-12-31
name = "load"
purpose = "How many reports a second"
participants = "simulated devices"
model = { family = "linear", sparsity = 5, response = { name = "y", bounds = [-2, 2] }, features = { count = 50, bounds = [-1, 1] } }
privacy = { epsilon = 2, randomizer = "duchi" }
rounds = { reports = $reports, minimum = 1, hours = 1, extensions = 0 }
STUDY
awk -v n="$devices" 'BEGIN { srand(1); for (j = 1; j <= 50; j++) printf "x%d,", j; print "y";
    for (i = 0; i < n; i++) { for (j = 1; j <= 50; j++) printf "%d,", rand() < .5 ? -1 : 1; print rand() } }' > people.csv
"$dpglm" collect keygen --output key > key.txt
key=$(awk '/public key/ { print $3 }' key.txt)
"$dpglm" collect sign study.toml --key-file key > /dev/null

run() { # name, storage
    "$dpglm" collect serve study.toml --storage "$2" --listen "$address" --rate-limit 0 2> "$1.log" &
    server=$!
    until grep -q 'serving on' "$1.log"; do sleep 0.1; done
    url="http://$address"
    "$dpglm" collect enroll --storage "$2" --count "$devices" --output "$1.tokens" > /dev/null
    echo "== $1, $reports reports over $connections connections"
    "$dpglm" collect simulate people.csv --service "$url" --key "$key" --tokens "$1.tokens" --connections "$connections" 2>/dev/null
    "$dpglm" collect estimate --storage "$2" | sed -n '/^round/,/^$/p'
    kill "$server"; wait "$server" || true
    server=
}
run sqlite "$folder/study.sqlite"

mkdir pg; [ "$(id -u)" != 0 ] || chown nobody pg
as "$postgres/initdb" -D "$folder/pg/data" -U dpglm --auth=trust > /dev/null
as "$postgres/pg_ctl" -D "$folder/pg/data" -w -l "$folder/pg/log" \
    -o "-c listen_addresses='' -c unix_socket_directories='$folder/pg'" start > /dev/null
as "$postgres/createdb" -h "$folder/pg" -U dpglm study
run postgresql "postgresql:///study?host=$folder/pg&user=dpglm"
