#!/bin/sh
# a comment
cat >"$file" <<EOF
if this were code
EOF
if [ "$x" = 1 ]; then
	echo 'done' >&2
fi
