#!/bin/sh
# SPDX-License-Identifier: MIT
# man.sh FILE.scd — writes the man page. scdoc's output has empty paragraphs and lines of any length, to which mandoc
# -Tlint objects, as to a title in lower case.
set -eu
page=$(scdoc <"$1")
printf '%s\n' "$page" | awk '
# A paragraph begins only where text follows it, and is none directly after a section.
function put(line) {
  if (pending && line !~ /^\.(SH|SS|RE|RS|PP)/) print ".PP"
  pending = line ~ /^\.RE/
  print line
  after = line ~ /^\.S[HS]/
}
/^\.TH / { $2 = toupper($2) }
/^\.nf/ { literal = 1 }
/^\.fi/ { literal = 0 }
/^\.PP?$/ && !literal { pending = !after; next }
/^\.$/ && !literal { next }
literal || /^[.\047]/ || length($0) <= 80 { put($0); next }
{
  n = split($0, words, / /)
  line = words[1]
  for (i = 2; i <= n; i++) {
    if (length(line) + 1 + length(words[i]) > 80) {
      put(line)
      line = words[i] ~ /^[.\047]/ ? "\\&" words[i] : words[i]
    } else
      line = line " " words[i]
  }
  put(line)
}'
