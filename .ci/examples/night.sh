#!/usr/bin/env bash
# A night for cron, with a line of crontab such as
#   17 1 * * *  /srv/orders/night.sh /srv/orders
# It prints nothing while all is well; cron sends what it prints by mail. A night that was cut off goes on the same day.
set -uo pipefail
cd "${1:?the folder that holds holdfast.toml}"
export PATH="$PWD/.venv/bin:$PATH"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
# Only one night at a time; one that still runs an hour after its budget is ended in good order, and reports.
flock --nonblock night.lock timeout --signal=TERM "${NIGHT_LIMIT:-3h}" holdfast nightly --out nights >"$log" 2>&1
code=$?
[ "$code" = 0 ] || { echo "The night ended with exit code $code; its report is $PWD/nights/latest/report.html."; cat "$log"; }
exit "$code"
