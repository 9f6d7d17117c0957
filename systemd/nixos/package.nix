# SPDX-License-Identifier: MIT
{
  lib,
  stdenv,
  pkg-config,
  scdoc,
  makeWrapper,
  fuse3,
  inih,
  libuuid,
  jansson,
  coreutils,
  gawk,
  gnused,
  util-linux,
}:

stdenv.mkDerivation {
  pname = "gldriverfs";
  version = builtins.head (
    builtins.match ".*\nVERSION = ([0-9.]+)\n.*" (builtins.readFile ../../Makefile)
  );

  src = lib.cleanSourceWith {
    src = lib.cleanSource ../..;
    filter = path: _type: baseNameOf path != "build";
  };

  strictDeps = true;
  enableParallelBuilding = true;
  nativeBuildInputs = [
    pkg-config
    scdoc
    makeWrapper
  ];
  buildInputs = [
    fuse3
    inih
    libuuid
    jansson
  ];

  postPatch = ''
    patchShebangs tools
  '';

  # A newer compiler's new warning is the developers' affair.
  env.NIX_CFLAGS_COMPILE = "-Wno-error";

  makeFlags = [
    "PREFIX=$(out)"
    "CC=${stdenv.cc.targetPrefix}cc"
    "AR=${stdenv.cc.targetPrefix}ar"
    "PKG_CONFIG=${stdenv.cc.targetPrefix}pkg-config"
  ];

  # Run by systemd, whose PATH on NixOS has none of these; fusermount3 is there as a setuid wrapper.
  postFixup = ''
    wrapProgram $out/libexec/gldriverfs/gldriverfs-detach \
      --prefix PATH : /run/wrappers/bin:${
        lib.makeBinPath [
          coreutils
          gawk
          gnused
          util-linux
        ]
      }
  '';

  meta = {
    description = "FUSE daemon that serves a consistent GPU driver directory at /run/opengl-driver";
    license = lib.licenses.mit;
    platforms = [
      "x86_64-linux"
      "aarch64-linux"
    ];
    mainProgram = "gldriverctl";
  };
}
