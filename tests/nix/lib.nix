# SPDX-License-Identifier: MIT
# As much of nixpkgs' lib as module.nix and package.nix use: options, types, priorities, and evalModules for them.
let
  inherit (builtins)
    all
    any
    attrNames
    concatLists
    concatMap
    concatStringsSep
    elem
    filter
    foldl'
    head
    isAttrs
    isBool
    isFunction
    isInt
    isList
    isString
    length
    listToAttrs
    map
    mapAttrs
    ;
in
rec {
  inherit (builtins) attrValues listToAttrs;
  isDerivation = value: isAttrs value && value ? outPath;
  toList = value: if isList value then value else [ value ];
  concatStrings = concatStringsSep "";
  concatMapStrings = f: list: concatStrings (map f list);
  mapAttrsToList = f: set: map (name: f name set.${name}) (attrNames set);
  mapAttrs' = f: set: listToAttrs (mapAttrsToList f set);
  genAttrs = names: f: listToAttrs (map (name: { inherit name; value = f name; }) names);
  filterAttrs = f: set: listToAttrs (
    concatMap (name: if f name set.${name} then [ { inherit name; value = set.${name}; } ] else [ ]) (attrNames set)
  );
  inherit (builtins) mapAttrs;
  optionalString = yes: text: if yes then text else "";
  makeBinPath = packages: concatStringsSep ":" (map (package: "${package}/bin") packages);
  literalExpression = text: text;
  literalMD = text: text;
  cleanSource = src: src;
  cleanSourceWith = { src, filter }: builtins.path { name = "source"; path = src; inherit filter; };
  licenses.mit = "MIT";

  mkOption = option: option // { _type = "option"; };
  mkEnableOption = description: mkOption { inherit description; type = types.bool; default = false; };
  mkIf = condition: content: { _type = "if"; inherit condition content; };
  mkMerge = contents: { _type = "merge"; inherit contents; };
  mkOverride = priority: content: { _type = "override"; inherit priority content; };
  mkForce = mkOverride 50;
  mkDefault = mkOverride 1000;

  # ---- types: check tells whether a value may be one, merge makes one of several.
  one = path: values:
    if all (value: value == head values) values then head values
    else throw "The option `${path}' has conflicting definition values";
  simple = description: check: { inherit description check; merge = one; };
  types = rec {
    bool = simple "boolean" isBool;
    int = simple "signed integer" isInt;
    str = simple "string" isString;
    lines = simple "lines" isString // { merge = _: concatStringsSep "\n"; };
    raw = simple "raw value" (_: true);
    path = simple "absolute path" (
      value: (isString value || builtins.isPath value || isDerivation value)
        && builtins.substring 0 1 (toString value) == "/"
    );
    package = simple "package" (value: isDerivation value || builtins.isPath value);
    enum = words: simple "one of ${concatStringsSep ", " words}" (value: elem value words);
    addCheck = type: check: type // { check = value: type.check value && check value; };
    either = a: b: {
      description = "${a.description} or ${b.description}";
      check = value: a.check value || b.check value;
      merge = path: values: if all a.check values then a.merge path values else b.merge path values;
    };
    oneOf = list: foldl' either (head list) (builtins.tail list);
    nullOr = type: {
      description = "null or ${type.description}";
      check = value: value == null || type.check value;
      merge = path: values: if any (value: value == null) values then one path values else type.merge path values;
    };
    listOf = type: {
      description = "list of ${type.description}";
      check = isList;
      merge = path: values: map (value: merged path type [ value ]) (concatLists values);
    };
    attrsOf = type: {
      description = "attribute set of ${type.description}";
      check = isAttrs;
      merge = path: values:
        let
          names = attrNames (foldl' (a: b: a // b) { } values);
          of = name: concatMap (value: if value ? ${name} then [ value.${name} ] else [ ]) values;
          # A name whose definitions are all conditional and off is not there.
          there = filter (name: definitions (of name) != [ ]) names;
        in
        listToAttrs (map (name: { inherit name; value = merged "${path}.${name}" type (of name); }) there);
    };
  };

  # ---- definitions of one option: conditions and priorities taken off, the strongest left
  isKind = kind: value: isAttrs value && (value._type or null) == kind;
  plain = value:
    if isKind "merge" value then concatMap plain value.contents
    else if isKind "if" value then (if value.condition then plain value.content else [ ])
    else if isKind "override" value then map (d: d // { inherit (value) priority; }) (plain value.content)
    else [ { inherit value; priority = 100; } ];
  definitions = values:
    let
      all' = concatMap plain values;
      strongest = foldl' (a: d: if d.priority < a then d.priority else a) 9999 all';
    in
    map (d: d.value) (filter (d: d.priority == strongest) all');
  merged = path: type: values:
    let
      found = definitions values;
      wrong = filter (value: !(type.check value)) found;
    in
    if wrong != [ ] then throw "A definition for option `${path}' is not of type `${type.description}'."
    else type.merge path found;

  # Conditions go down to the values, so that which options a module sets does not depend on them.
  pushed = value:
    if isKind "merge" value then concatMap pushed value.contents
    else if isKind "if" value then map (mapAttrs (_: mkIf value.condition)) (pushed value.content)
    else if isKind "override" value then map (mapAttrs (_: mkOverride value.priority)) (pushed value.content)
    else [ value ];
  tree = path: options: values:
    if isKind "option" options then
      let
        default = if options ? default then [ (mkOverride 1500 options.default) ] else [ ];
        found = values ++ default;
      in
      if definitions found == [ ] then throw "The option `${path}' was accessed but has no value defined."
      else merged path options.type found
    else
      let
        sets = concatMap pushed values;
        below = name: if path == "" then name else "${path}.${name}";
        unknown = filter (name: !(options ? ${name})) (concatMap attrNames sets);
      in
      if unknown != [ ] then throw "The option `${below (head unknown)}' does not exist."
      else mapAttrs (
        name: option: tree (below name) option (concatMap (set: if set ? ${name} then [ set.${name} ] else [ ]) sets)
      ) options;
  joined = a: b:
    a // mapAttrs (name: value:
      if a ? ${name} && isAttrs value && !(isKind "option" value) then joined a.${name} value else value) b;

  evalModules = { modules, pkgs, lib }:
    let
      loaded = map (module:
        let f = if isFunction module || isAttrs module then module else import module; in
        if isFunction f then f { inherit config lib pkgs; } else f) modules;
      options = foldl' joined { } (map (module: module.options or { }) loaded);
      config = tree "" options (map (
        module: module.config or (builtins.removeAttrs module [ "options" ])
      ) loaded);
    in
    { inherit config options; };
}
