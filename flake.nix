# SPDX-License-Identifier: MIT
{
  description = "GPU driver directory as a FUSE mount: host driver and cuda_compat, switched without a rebuild";

  inputs.nixpkgs.url = "nixpkgs";

  outputs =
    { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      forAll = make: lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = forAll (pkgs: rec {
        gldriverfs = pkgs.callPackage ./systemd/nixos/package.nix { };
        default = gldriverfs;
      });

      overlays.default = final: _prev: {
        gldriverfs = final.callPackage ./systemd/nixos/package.nix { };
      };

      nixosModules.default = ./systemd/nixos/module.nix;

      # What tests/deps.sh asks for.
      devShells = forAll (pkgs: {
        default = pkgs.mkShell {
          inputsFrom = [ self.packages.${pkgs.stdenv.hostPlatform.system}.gldriverfs ];
          packages = with pkgs; [
            cmocka
            fuse3
            glibc.bin
            bubblewrap
            jq
            procps
            strace
            util-linux
            vulkan-loader
            clang-tools
            cppcheck
            shellcheck
          ];
        };
      });

      checks.x86_64-linux.nixos = nixpkgs.legacyPackages.x86_64-linux.callPackage ./systemd/nixos/test.nix { };
    };
}
