# SPDX-License-Identifier: MIT
# A virtual machine with the module: nix build .#checks.x86_64-linux.nixos
{
  lib,
  testers,
  runCommandCC,
}:

let
  driver =
    name: directory: version:
    runCommandCC name { } ''
      mkdir -p $out/${directory} $out/share
      echo 'const char *version(void); const char *version(void) { return "${version}"; }' |
        $CC -shared -fPIC -Wl,-soname,libcuda.so.1 -o $out/${directory}/libcuda.so.${version} -x c -
      ln -s libcuda.so.${version} $out/${directory}/libcuda.so.1
      echo plain >$out/share/mark
    '';
in
testers.runNixOSTest {
  name = "gldriverfs";

  nodes.machine = {
    hardware.graphics = {
      enable = true;
      package = driver "driver" "lib" "535.1";
    };
    specialisation.plain.configuration.services.gldriverfs.enable = lib.mkForce false;
    specialisation.on.configuration.services.gldriverfs.compat.mode = lib.mkForce "on";
    imports = [ ./module.nix ];
    services.gldriverfs = {
      enable = true;
      compat.mode = "off";
      compat.package = driver "cuda12.4-cuda_compat-12.4" "compat" "550.1";
    };
  };

  testScript = ''
    base = "/run/current-system"
    machine.wait_for_unit("gldriverfs.service")
    machine.succeed("mountpoint /run/opengl-driver")
    system = machine.succeed(f"readlink -f {base}").strip()
    served = "/run/opengl-driver/lib/libcuda.so.1"
    pid = "systemctl show -P MainPID gldriverfs.service"

    with subtest("the host layer"):
        assert machine.succeed(f"readlink -f {served}").strip().endswith("libcuda.so.535.1")
        machine.succeed("grep plain /run/opengl-driver/share/mark")

    with subtest("a policy is a reload"):
        before = machine.succeed(pid)
        machine.succeed(f"{system}/specialisation/on/bin/switch-to-configuration test >&2")
        assert machine.succeed(f"readlink -f {served}").strip().endswith("libcuda.so.550.1")
        assert machine.succeed(pid) == before
        machine.succeed(f"{system}/bin/switch-to-configuration test >&2")

    with subtest("kill -9, restart"):
        machine.succeed("exec 9</run/opengl-driver/lib && systemctl kill -s KILL gldriverfs.service && ls /proc/self/fd/9/")
        machine.succeed("exec 9</run/opengl-driver/lib && systemctl restart gldriverfs.service && ls /proc/self/fd/9/")

    with subtest("without the mount: the driver"):
        machine.succeed("systemctl stop gldriverfs.service")
        machine.fail("mountpoint /run/opengl-driver")
        machine.succeed("grep plain /run/opengl-driver/share/mark", f"test -e {served}")
        machine.succeed("systemctl start gldriverfs.service")

    with subtest("rollback, and back while the link is in use"):
        machine.succeed(f"{system}/specialisation/plain/bin/switch-to-configuration test >&2")
        machine.succeed("test -L /run/opengl-driver", f"test -e {served}")
        machine.succeed(f"{system}/bin/switch-to-configuration test >&2")
        machine.succeed("mountpoint /run/opengl-driver", f"test -e {served}")
  '';
}
