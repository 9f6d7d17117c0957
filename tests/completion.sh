#!/bin/bash
# SPDX-License-Identifier: MIT
# The completions: every command, option and mode that the programs have, and what a daemon serves.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${BUILD:-build/release}")
T=${T:-$(mktemp -d)}
PATH=$build:$PATH
. tools/completion/gldriverctl
. tools/completion/gldriverfs

complete_words() { # WORD... — the last one is being typed
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  "_$1"
  printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd' '
}
expect() { # WANTED WORD...
  local wanted=$1 got
  shift
  got=$(complete_words "$@")
  [ "$got" = "$wanted" ] || { echo "$*: got '$got', not '$wanted'" && exit 1; }
}

# As --help has them.
options_of() { "$build/$1" --help | grep -o -e '--[a-z][a-z-]*' | sort -u; }
commands=$(gldriverctl --help | sed -n '/^Commands:/,/^$/p' | awk 'NR > 1 && NF { print $1 }' | sort | paste -sd' ')
expect "$commands" gldriverctl ''
expect "$(options_of gldriverfs | paste -sd' ')" gldriverfs --
all=$(for command in '' $commands; do complete_words gldriverctl ${command:+"$command"} -- | tr ' ' '\n'; done | sort -u)
[ "$all" = "$(options_of gldriverctl)" ] || { diff <(echo "$all") <(options_of gldriverctl) && exit 1; }
# What a command refuses is not offered for it.
for command in $commands; do
  for option in $(complete_words gldriverctl "$command" --); do
    case $option in
    --help | --version | --json | --strict) continue ;;
    --persist) value=() ;;
    *) value=(none) ;;
    esac
    says=$(gldriverctl "$command" "$option" "${value[@]}" 2>&1 || true)
    [[ $says != *"takes no"* ]] || { echo "$command is offered $option: $says" && exit 1; }
  done
done

expect "auto off on reset" gldriverctl compat ''
expect "off on" gldriverctl compat o
expect "" gldriverctl compat on ''
expect "reload" gldriverctl --json re
expect "reload" gldriverctl --name x re
expect "reload" gldriverctl --name = x re
expect "--root" gldriverctl check --r
expect "" gldriverctl status --r
expect "--no-cache" gldriverfs --no
expect "" gldriverfs --config ''

# A daemon, that only lists.
mkdir "$T/bin"
cat >"$T/bin/gldriverctl" <<'END'
#!/bin/sh
echo "$*" >>"$T/asked"
cat <<'LIST'
directory  -     lib                        -
link       host  lib/libcuda.so.1           libcuda.so.535
file       host  lib/libcuda.so.535         /usr/lib/libcuda.so.535
file       host  lib/libnvidia-ml.so        /usr/lib/libnvidia-ml.so
LIST
END
chmod +x "$T/bin/gldriverctl"
export T
PATH=$T/bin:$PATH
expect "libcuda.so.1 libcuda.so.535 libnvidia-ml.so" gldriverctl explain lib
expect "libcuda.so.1 libcuda.so.535" gldriverctl --name x explain libc
grep -qx -e '--name x list' "$T/asked" || { cat "$T/asked" && exit 1; }
expect "lib/libnvidia-ml.so" gldriverctl list lib/libn
