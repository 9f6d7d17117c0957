# SPDX-License-Identifier: MIT
# package.nix, built with the compiler and libraries that PATH finds: as much of stdenv as it uses.
{ path }:
let
  lib = import ./lib.nix;
  mkDerivation = args:
    builtins.derivation (
      builtins.removeAttrs args [ "meta" "env" "nativeBuildInputs" "buildInputs" ] // args.env // {
        name = "${args.pname}-${args.version}";
        system = builtins.currentSystem;
        builder = "/bin/bash";
        args = [ ./builder.sh ];
        PATH = path;
      }
    ) // { inherit (args) meta; };
in
import ../../systemd/nixos/package.nix {
  inherit lib;
  stdenv = { inherit mkDerivation; cc.targetPrefix = ""; };
  pkg-config = null;
  scdoc = null;
  makeWrapper = null;
  fuse3 = null;
  inih = null;
  libuuid = null;
  jansson = null;
  coreutils = "/usr";
  gawk = "/usr";
  gnused = "/usr";
  util-linux = "/usr";
}
