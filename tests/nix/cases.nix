# SPDX-License-Identifier: MIT
# Configurations, as modules; tests/nix/module.sh says what each must give.
{ fake, readme ? null }:
let
  on = { services.gldriverfs.enable = true; hardware.graphics.enable = true; };
  compat = fake "cuda12.2-cuda_compat-12.2.34086590";
  gl = values: { services.gldriverfs = values; };
in
{
  off = [ { hardware.graphics.enable = true; } ];
  plain = [ on ];
  no-graphics = [ { services.gldriverfs.enable = true; } ];
  # As jetpack-nixos' modules/graphics.nix.
  jetpack = [
    on
    {
      hardware.graphics.package = fake "l4t-3d-core";
      hardware.graphics.extraPackages = [ (fake "jetson-graphics-extra-packages") ];
    }
  ];
  compat-default = [ on { cudaPackages.cuda_compat = compat; } ];
  compat-null = [ on { cudaPackages.cuda_compat = compat; } (gl { compat.package = null; }) ];
  compat-absent = [ on { cudaPackages.cuda_compat = null; } ];
  compat-unfree = [ on { cudaPackages.cuda_compat = { type = "derivation"; outPath = throw "unfree"; }; } ];
  compat-on = [ on (gl { compat = { mode = "on"; package = compat; }; }) ];
  enable32 = [ on (gl { compat.package = compat; }) { hardware.graphics.enable32Bit = true; } ];
  settings = [
    on
    (gl {
      compat.package = compat;
      settings.gldriverfs = { present = "file"; watch = false; runpath = null; };
      settings."profile native"."compat.mode" = "off";
      layers.host.exclude = [ "libnvargus*" "libnvscf*" ];
      layers.compat.cuda = "12.2";
      layers.local = { role = "extra"; order = 50; dir = fake "local"; optional = true; };
      dropIns."50-site" = "[compat]\nmode = off\n";
    })
    # Another module of the machine.
    (gl { settings.compat.on-unknown = "on"; })
  ];
  readme = [ readme ];
  unknown-key = [ on (gl { settings.gldriverfs.presnt = "file"; }) ];

  wrong-mode = [ on (gl { compat.mode = "maybe"; }) ];
  wrong-value = [ on (gl { settings.gldriverfs.present = { a = 1; }; }) ];
  wrong-list = [ on (gl { layers.host.include = [ { } ]; }) ];
  wrong-line = [ on (gl { layers.host.include = "a\nb"; }) ];
  wrong-comment = [ on (gl { layers.host.include = "a ;b"; }) ];
  wrong-package = [ on (gl { compat.package = "cuda"; }) ];
  wrong-drop-in = [ on (gl { dropIns.x = 1; }) ];
  wrong-option = [ on (gl { compt.mode = "on"; }) ];
  mountpoint = [ on (gl { settings.gldriverfs.mountpoint = "/run/x"; }) ];
}
