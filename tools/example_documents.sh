#!/bin/sh
# The documents in examples/: everything with these endings but pictures' labels (scenes/) and requests (sample.json).
cd "$(dirname "$0")/.."
git ls-files 'examples/*.yaml' 'examples/*.json' 'examples/*.pbtxt' ':!examples/*/scenes/*' ':!examples/*sample.json'
