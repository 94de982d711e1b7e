{
  description = "Decides when a coding agent's context is compacted and carries the agent across.";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = builtins.fromTOML (builtins.readFile ./Cargo.toml);
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "rawr";
          version = manifest.workspace.package.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [ "--package" "rawr-sidecar" ];
          # The tests start real editors and hosts.
          doCheck = false;
          meta = {
            description = "Decides when a coding agent's context is compacted and carries the agent across";
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "rawr";
            platforms = systems;
          };
        };
      });

      devShells = each (pkgs: {
        default = pkgs.mkShell { packages = with pkgs; [ cargo rustc rustfmt clippy nodejs git ]; };
      });
    };
}
