#!/bin/sh
# Makes the flags of an environment match a file. Run it as often as you like: what matches is left alone.
#
#   apply.sh plan flags.json     shows what would change, and exits with 2 if something would
#   apply.sh apply flags.json    changes it
#
# Needs curl 7.84 or later, jq, and a key of the role editor in HALYARD_API_KEY.
set -eu

mode=${1:-} file=${2:-}
case $mode in plan | apply) ;; *) file= ;; esac
if [ -z "$file" ]; then
  echo "usage: $0 plan|apply flags.json" >&2
  exit 64
fi
api=${HALYARD_URL:-http://127.0.0.1:4400}/api/v1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# In a file, because every user of the machine can see the arguments of a process.
printf 'Authorization: Bearer %s\n' "$HALYARD_API_KEY" >"$work/key"

# request METHOD PATH [BODY [ETAG]]: sets status and etag; the answer is in $work/answer.
request() {
  set -- "$1" "$2" "${3-}" "${4-}"
  answer=$(curl -sS --retry 3 -X "$1" "$api$2" -H "@$work/key" -H 'Content-Type: application/json' \
    ${3:+--data-binary "$3"} ${4:+-H "If-Match: $4"} -o "$work/answer" -w '%{http_code} %header{etag}')
  status=${answer%% *} etag=${answer#* }
}

fail() {
  echo "$key: $1" >&2
  exit 1
}

refused() {
  fail "$(jq -r '.message? // .' "$work/answer") (status $status)"
}

# What a protected environment answers.
proposed() {
  echo "  waits for approval as $(jq -r .id "$work/answer")"
}

changes=0
jq -c '.[]' "$file" >"$work/flags"
while read -r flag; do
  key=$(printf '%s' "$flag" | jq -r .key)

  request GET "/flags/$key"
  case $status in
    200) ;;
    404)
      changes=$((changes + 1))
      echo "+ $key"
      [ "$mode" = apply ] || continue
      # A new flag is off; the change below turns it on.
      request POST /flags "$(printf '%s' "$flag" | jq -c 'del(.enabled)')"
      case $status in
        201) ;;
        202) proposed && continue ;;
        *) refused ;;
      esac
      ;;
    *) refused ;;
  esac

  # Only the fields that differ. Fields that the file does not name stay as they are.
  patch=$(printf '%s' "$flag" | jq -c --slurpfile now "$work/answer" \
    'del(.key, .type, .valueType) | with_entries(select(.value != $now[0][.key]))')
  [ "$patch" != '{}' ] || continue
  changes=$((changes + 1))
  echo "~ $key $patch"
  [ "$mode" = apply ] || continue
  # The ETag is the version that was read: if somebody has changed the flag since, their change stays.
  request PATCH "/flags/$key" "$patch" "$etag"
  case $status in
    200) ;;
    202) proposed ;;
    412) fail 'somebody else has just changed it; look at it, then run this again' ;;
    *) refused ;;
  esac
done <"$work/flags"

[ "$changes" -gt 0 ] || echo 'Nothing to change.'
if [ "$mode" = plan ] && [ "$changes" -gt 0 ]; then exit 2; fi
