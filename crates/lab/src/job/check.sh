#!/bin/sh
# sparse, in a job of tollgate: what it says is kept by the file that it reads.
for a; do f=$a; done
f=${f#/tmp/linux/}
mkdir -p "/tmp/out/o/${f%/*}"
sparse "$@" >>"/tmp/out/o/${f%.*}.o.sparse" 2>&1
echo $? >>"/tmp/out/o/${f%.*}.o.sparse-status"
exit 0
