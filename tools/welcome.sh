#!/bin/sh
# What `make run` ends with: the server with the vision example, and a call that is answered. In a terminal it goes on
# serving until Ctrl-C; elsewhere it stops after the call.
set -eu
cd "$(dirname "$0")/.."
sluice=build/release/sluice
data=build/demo-data
echo
echo "Sluice serves multi-stage DNN workflows: you give one number, the latency of the whole call, and for every stage of"
echo "every request it chooses batch, vCPUs, GPU slice and node at the lowest cost."
echo
listen=${SLUICE_LISTEN:-127.0.0.1:8000}
mkdir -p $data
log=$data/up.log
$sluice up --demo --data $data --listen "$listen" >"$log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null || true' EXIT INT TERM
while kill -0 $server 2>/dev/null && ! grep -q '^listening' "$log"; do sleep 0.2; done
cat "$log"
kill -0 $server 2>/dev/null || { echo "error: the server did not start" >&2; exit 1; }
line=$(sed -n 's/^  \(curl .*\)$/\1/p' "$log" | head -1)
echo
echo "\$ $line"
answer=$(eval "$line")
echo "$answer" | cut -c1-300
case $answer in *'"label"'*) echo "ok: the demo answers" ;; *) echo "error: the demo did not answer" >&2; exit 1 ;; esac
if [ -t 1 ]; then
  echo
  echo "It goes on serving; Ctrl-C stops it. Without the server: $sluice sim examples/esg/moderate_normal.yaml, $sluice --help"
  wait $server
fi
