#!/bin/sh
# A sidecar that starts and never answers, and that only SIGKILL ends.
[ "$1" = --version ] && echo rawr 0.0.1 && exit
trap '' TERM INT HUP
exec tail -f /dev/null
