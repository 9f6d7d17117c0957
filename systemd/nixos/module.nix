# SPDX-License-Identifier: MIT
# services.gldriverfs: serves the driver of hardware.graphics, and cuda_compat where there is one, at /run/opengl-driver
# (and at /run/opengl-driver-32). Needs a nixpkgs with hardware.graphics: 24.11 and later.
{
  config,
  lib,
  pkgs,
  ...
}:

let
  inherit (lib)
    mkDefault
    mkForce
    mkIf
    mkOption
    types
    ;
  cfg = config.services.gldriverfs;
  graphics = config.hardware.graphics;
  has32 = graphics.enable32Bit;

  # What no value in an INI line can hold: another line, or a comment.
  holds = text: builtins.match "(.*\n.*)|(.*[ \t][;#].*)|([;#].*)" text == null;
  line = types.addCheck types.str holds // {
    description = "string of one line without a comment";
  };
  atom = types.oneOf [
    types.bool
    types.int
    line
    # A package, or a path of Nix.
    (types.addCheck types.path (value: !builtins.isString value))
  ];
  section = types.attrsOf (types.nullOr (types.either atom (types.listOf atom)));

  atomText =
    value:
    if builtins.isBool value then
      (if value then "yes" else "no")
    else if builtins.isPath value then
      "${value}"
    else
      toString value;
  keyText = key: value: lib.concatMapStrings (one: "${key} = ${atomText one}\n") (lib.toList value);
  sectionText =
    name: keys:
    "\n[${name}]\n"
    + lib.concatStrings (lib.mapAttrsToList keyText (lib.filterAttrs (_: value: value != null) keys));
  policy =
    name: settings: layers:
    pkgs.writeText name (
      "# Made from services.gldriverfs of the NixOS configuration.\n"
      + lib.concatStrings (lib.mapAttrsToList sectionText settings)
      + lib.concatStrings (lib.mapAttrsToList (layer: sectionText "layer ${layer}") layers)
    );

  main = policy "gldriverfs.conf" cfg.settings cfg.layers;
  # No cuda_compat is made for 32 bits.
  main32 =
    policy "gldriverfs-32.conf"
      { gldriverfs = (cfg.settings.gldriverfs or { }) // { machine = "i386"; }; }
      {
        host = {
          role = "host";
          tree = cfg.driver32;
        };
      };
  dropIns = lib.mapAttrs (name: text: pkgs.writeText "${name}.conf" text) cfg.dropIns;

  # As systemd-escape --path writes /run/opengl-driver-32: the name of the second instance.
  name32 = "run-opengl\\x2ddriver\\x2d32";
  service = triggers: {
    # All else is in the package's unit.
    overrideStrategy = "asDropin";
    wantedBy = [ "multi-user.target" ];
    # Restarted in one step where the program or the unit has changed: a hand-over, the mount stays.
    stopIfChanged = false;
    # A changed policy or driver leaves the unit as it is.
    reloadTriggers = triggers;
  };

  # What stands below the mount leads through /etc: links that never change.
  below =
    point: driver:
    lib.listToAttrs (
      [
        {
          name = point;
          value."d!" = {
            mode = "0755";
            user = "root";
            group = "root";
          };
        }
      ]
      # At boot only (!): later the mount is there, which is read-only.
      ++ map (name: {
        name = "${point}/${name}";
        value."L!".argument = "${driver}/${name}";
      }) [ "lib" "share" "etc" ]
    );
  place = pkgs.writeText "gldriverfs-place.sh" (builtins.readFile ./place.sh);
  placing = point: driver: ''
    PATH=${
      lib.makeBinPath [
        pkgs.coreutils
        pkgs.util-linux
      ]
    } ${pkgs.runtimeShell} ${place} ${point} ${driver} || echo "gldriverfs: ${point} stays as it is"
  '';
  drivers = [
    "/run/opengl-driver"
    "/etc/gldriverfs/driver"
  ];
  drivers32 = [
    "/run/opengl-driver-32"
    "/etc/gldriverfs/driver-32"
  ];
  with2 = f: pair: f (builtins.elemAt pair 0) (builtins.elemAt pair 1);
in
{
  options.services.gldriverfs = {
    enable = lib.mkEnableOption "gldriverfs, the GPU driver directory as a mount";

    package = mkOption {
      type = types.package;
      default = pkgs.callPackage ./package.nix { };
      defaultText = lib.literalExpression "pkgs.callPackage ./package.nix { }";
      description = "The gldriverfs to use.";
    };

    driver = mkOption {
      type = types.package;
      default = pkgs.buildEnv {
        name = "graphics-drivers";
        paths = [
          graphics.package
          pkgs.libGL
        ]
        ++ graphics.extraPackages;
      };
      defaultText = lib.literalMD "`hardware.graphics.package`, glvnd and `hardware.graphics.extraPackages` in one";
      description = "The driver package: the host layer, and what /run/opengl-driver shows without the mount.";
    };

    driver32 = mkOption {
      type = types.package;
      default = pkgs.buildEnv {
        name = "graphics-drivers-32bit";
        paths = [
          graphics.package32
          pkgs.pkgsi686Linux.libGL
        ]
        ++ graphics.extraPackages32;
      };
      defaultText = lib.literalMD "the same of `hardware.graphics.package32` and `extraPackages32`";
      description = "The driver package of /run/opengl-driver-32, with `hardware.graphics.enable32Bit`.";
    };

    compat = {
      mode = mkOption {
        type = types.enum [
          "auto"
          "on"
          "off"
        ];
        default = "auto";
        description = "Whether the CUDA libraries of the compat layers are served: `compat.mode`.";
      };
      package = mkOption {
        type = types.nullOr types.package;
        # Where it is unfree and not allowed, or not for this platform, it cannot be evaluated.
        default =
          let
            found = builtins.tryEval (
              let
                package = (pkgs.cudaPackages or { }).cuda_compat or null;
              in
              builtins.seq (toString package) package
            );
          in
          if found.success then found.value else null;
        defaultText = lib.literalExpression "pkgs.cudaPackages.cuda_compat or null";
        description = "The package whose `compat` directory is the compat layer; null: there is none.";
      };
    };

    settings = mkOption {
      type = types.attrsOf section;
      default = { };
      example = lib.literalExpression ''
        {
          gldriverfs.present = "file";
          compat.on-unknown = "on";
          "profile native"."compat.mode" = "off";
        }
      '';
      description = "Sections and keys of the policy, as in gldriverfs.conf(5). A list is a repeated key.";
    };

    layers = mkOption {
      type = types.attrsOf section;
      default = { };
      example = lib.literalExpression ''{ host.exclude = [ "libnvargus*" ]; }'';
      description = ''
        The `[layer …]` sections. `host` has the driver package, `compat` the compat package; their keys can be
        replaced and others be added. `enabled = false` takes a layer out.
      '';
    };

    dropIns = mkOption {
      type = types.attrsOf types.lines;
      default = { };
      example = lib.literalExpression ''{ "50-site" = "[compat]\nmode = off\n"; }'';
      description = "Files of /etc/gldriverfs/gldriverfs.conf.d, by name without `.conf`; they win over the settings.";
    };
  };

  config = mkIf cfg.enable {
    assertions = [
      {
        assertion = graphics.enable;
        message = "services.gldriverfs serves the driver of hardware.graphics: set hardware.graphics.enable.";
      }
      {
        assertion = !(cfg.settings ? gldriverfs.mountpoint);
        message = "services.gldriverfs.settings.gldriverfs.mountpoint: the mount is at /run/opengl-driver.";
      }
    ];

    services.gldriverfs.settings = {
      gldriverfs.version = mkDefault 1;
      compat.mode = cfg.compat.mode;
    };
    services.gldriverfs.layers = {
      host = {
        role = mkDefault "host";
        tree = mkDefault cfg.driver;
      };
      compat = mkIf (cfg.compat.package != null) {
        role = mkDefault "compat";
        dir = mkDefault "${cfg.compat.package}/compat";
      };
    };

    environment.systemPackages = [ cfg.package ];
    environment.etc = lib.mkMerge [
      {
        "gldriverfs/gldriverfs.conf".source = main;
        "gldriverfs/driver".source = cfg.driver;
      }
      (lib.mapAttrs' (name: file: {
        name = "gldriverfs/gldriverfs.conf.d/${name}.conf";
        value.source = file;
      }) dropIns)
      (mkIf has32 {
        "gldriverfs/${name32}.conf".source = main32;
        "gldriverfs/driver-32".source = cfg.driver32;
      })
    ];

    systemd.packages = [ cfg.package ];
    systemd.services = {
      gldriverfs = service ([ main ] ++ lib.attrValues dropIns);
      "gldriverfs@${name32}" = mkIf has32 (service [ main32 ]);
    };

    # In place of the links that hardware.graphics makes at boot and at each switch.
    systemd.tmpfiles.settings.graphics-driver = {
      "/run/opengl-driver" = mkForce { };
      "/run/opengl-driver-32" = mkIf has32 (mkForce { });
    };
    systemd.tmpfiles.settings.gldriverfs = lib.mkMerge [
      {
        "/run/gldriverfs".d = {
          mode = "0755";
          user = "root";
          group = "root";
        };
      }
      (with2 below drivers)
      (mkIf has32 (with2 below drivers32))
    ];

    # The switch that first has gldriverfs finds such a link in use.
    system.activationScripts.gldriverfs = {
      deps = [ "etc" ];
      text = with2 placing drivers + lib.optionalString has32 (with2 placing drivers32);
    };
  };
}
