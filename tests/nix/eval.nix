# SPDX-License-Identifier: MIT
# What the module makes of one of cases.nix: files of /etc, tmpfiles rules, drop-ins of units, the activation's script.
{ case, package, readme ? null }:
let
  lib = import ./lib.nix;
  stored = name: "/nix/store/00000000000000000000000000000000-${name}";
  fake = name: { type = "derivation"; inherit name; outPath = stored name; };
  modules = (import ./cases.nix { inherit fake; readme = import readme; }).${case};
  pkgs = {
    inherit fake;
    callPackage = _path: _args: { type = "derivation"; outPath = package; };
    buildEnv = { name, paths }: fake name // { inherit paths; };
    writeText = name: text: fake name // { inherit text; };
    runtimeShell = "/bin/sh";
    libGL = fake "libglvnd";
    pkgsi686Linux.libGL = fake "libglvnd-32";
    coreutils = "/usr";
    util-linux = "/usr";
    cudaPackages = builtins.foldl' (found: module: module.cudaPackages or found) { } (builtins.filter builtins.isAttrs modules);
  };
  config = (lib.evalModules {
    inherit lib pkgs;
    modules = [ ./options.nix ../../systemd/nixos/module.nix ] ++ map (module: if builtins.isAttrs module then removeAttrs module [ "cudaPackages" ] else module) modules;
  }).config;
  text = file: { text = file.text or null; link = "${file}"; paths = map toString (file.paths or [ ]); };
  rule = path: kind: r:
    "${kind} ${path} ${r.mode or "-"} ${r.user or "-"} ${r.group or "-"} - ${r.argument or "-"}";
  unit = service: {
    inherit (service) wantedBy overrideStrategy;
    # As NixOS writes them.
    text = "[Unit]\nX-Reload-Triggers=${toString service.reloadTriggers}\n\n[Service]\n"
      + lib.optionalString (!service.stopIfChanged) "X-StopIfChanged=false\n";
  };
in
{
  failed = map (a: a.message) (builtins.filter (a: !a.assertion) config.assertions);
  etc = builtins.mapAttrs (_: entry: text entry.source) config.environment.etc;
  tmpfiles = builtins.concatLists (lib.mapAttrsToList (_: file:
    builtins.concatLists (lib.mapAttrsToList (path: lib.mapAttrsToList (rule path)) file)
  ) config.systemd.tmpfiles.settings);
  units = builtins.mapAttrs (_: unit) config.systemd.services;
  packages = map toString config.systemd.packages;
  activation = config.system.activationScripts.gldriverfs.text or "";
}
