#!/bin/sh
# What `make run` ends with: what Sluice is, shown on an example, and what to type next.
cd "$(dirname "$0")/.."
sluice=build/release/sluice
example=examples/esg/expanded_image_classification.yaml
echo
echo "Sluice serves multi-stage DNN workflows: you give one number, the latency of the whole call, and for every stage of"
echo "every request it chooses batch, vCPUs, GPU slice and node at the lowest cost."
echo
echo "This is a workflow ($example):"
echo
sed -n '/^application/,$p' $example | sed 's/^/    /'
echo
echo "This is what Sluice would run for it when eight requests wait (sluice plan):"
echo
$sluice plan $example --queue 8 --top 2 | sed 's/^/    /'
echo
echo "The server, sluice up, is not built yet. What works today; try:"
echo "    $sluice sim examples/esg/moderate_normal.yaml --scheduler sluice,esg,fifo"
echo "    $sluice plan $example --slo 1500ms --queue 1 --percentile 95"
echo "    $sluice check examples/asl/photo_archive.json      # a workflow in Amazon States Language, with branches and a map"
echo "    $sluice check tests/cli/wrong/many_errors.yaml     # what a document with mistakes gets"
echo "    $sluice --help"
