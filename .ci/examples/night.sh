#!/usr/bin/env bash
# A night for cron, with a line of crontab such as
#   17 1 * * *  /srv/orders/night.sh /srv/orders
# In that folder are holdfast.toml and .venv, an environment in which Holdfast is installed.
# It prints nothing while all is well; cron sends what it prints by mail. A night that was cut off goes on the same day.
set -uo pipefail
cd "${1:?the folder that holds holdfast.toml}"
export PATH="$PWD/.venv/bin:$PATH"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
exec 9>night.lock
flock --nonblock 9 || { echo "No night began: one that began earlier still runs in $PWD."; exit 1; }
# A night that is not over by then is ended in good order, and reports.
timeout --preserve-status --signal=TERM "${NIGHT_LIMIT:-3h}" holdfast nightly --out nights >"$log" 2>&1
code=$?
[ "$code" = 0 ] || { echo "The night ended with exit code $code; its report is $PWD/nights/latest/report.html."; cat "$log"; }
exit "$code"
