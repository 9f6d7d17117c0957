#!/bin/sh
# SPDX-License-Identifier: MIT
# embed.sh FILE... — a C source with the texts of the tables soc.ini, l4t.ini, driver.ini on standard output.
set -eu

echo '/* Made by tools/embed.sh. */'
echo '#include "tables_internal.h"'
echo
echo 'const struct table_text tables_builtin[TABLE_COUNT] = {'
for file; do
  name=$(basename "$file" .ini)
  id=TABLE_$(echo "$name" | tr '[:lower:]' '[:upper:]')
  [ -s "$file" ]
  printf '\t[%s] = { TABLE_TEXT(\n' "$id"
  sed -e 's/[\\"]/\\&/g' -e 's/.*/\t\t"&\\n"/' "$file"
  printf '\t) },\n'
done
echo '};'
