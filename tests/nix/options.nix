# SPDX-License-Identifier: MIT
# The options of NixOS that the module reads or sets, and what nixpkgs' hardware.graphics does with tmpfiles.
{ config, lib, pkgs }:
let
  inherit (lib) mkOption types;
  inherit (types) attrsOf bool listOf package raw;
  option = type: default: mkOption { inherit type default; };
  graphics = config.hardware.graphics;
  env = name: paths: pkgs.buildEnv { inherit name paths; };
in
{
  options = {
    assertions = option (listOf raw) [ ];
    hardware.graphics = {
      enable = option bool false;
      enable32Bit = option bool false;
      package = mkOption { type = package; };
      package32 = mkOption { type = package; };
      extraPackages = option (listOf package) [ ];
      extraPackages32 = option (listOf package) [ ];
    };
    environment.systemPackages = option (listOf package) [ ];
    environment.etc = option (attrsOf (attrsOf raw)) { };
    systemd.packages = option (listOf package) [ ];
    systemd.services = option (attrsOf (attrsOf raw)) { };
    systemd.tmpfiles.settings = option (attrsOf (attrsOf (attrsOf (attrsOf raw)))) { };
    system.activationScripts = option (attrsOf raw) { };
  };

  config = {
    hardware.graphics.package = lib.mkDefault (pkgs.fake "mesa");
    hardware.graphics.package32 = lib.mkDefault (pkgs.fake "mesa-32");
    systemd.tmpfiles.settings.graphics-driver = lib.mkIf graphics.enable {
      "/run/opengl-driver"."L+".argument = toString (env "graphics-drivers" [ graphics.package ]);
      "/run/opengl-driver-32" =
        if graphics.enable32Bit then
          { "L+".argument = toString (env "graphics-drivers-32bit" [ graphics.package32 ]); }
        else
          { r = { }; };
    };
  };
}
