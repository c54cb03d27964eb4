# zeph-acp {{.Version}}: the released binary, by its hash.
#
#   nix run {{.Latest}}/flake.tar.gz
#   nix profile install {{.Latest}}/flake.tar.gz
#
# The binary is static, so it is not patched.
{
  description = "{{.Summary}}";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { self, nixpkgs }:
    let
      version = "{{.Version}}";
      archives = {
        {{- range .Nix}}
        {{.System}} = {
          url = "{{.URL}}";
          sha256 = "{{.SHA256}}";
        };
        {{- end}}
      };
      systems = builtins.attrNames archives;
      forEach = f: builtins.listToAttrs (map (name: { inherit name; value = f name; }) systems);
      package =
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
        in
        pkgs.stdenvNoCC.mkDerivation {
          pname = "zeph-acp";
          inherit version;
          src = pkgs.fetchurl archives.${system};
          sourceRoot = "{{.Dir}}";
          nativeBuildInputs = [ pkgs.installShellFiles ];
          dontConfigure = true;
          dontBuild = true;
          dontFixup = true;
          installPhase = ''
            install -Dm755 zeph-acp $out/bin/zeph-acp
            installManPage man/man1/*
            installShellCompletion --bash --name zeph-acp completions/zeph-acp.bash
            installShellCompletion --zsh completions/_zeph-acp
            installShellCompletion --fish completions/zeph-acp.fish
          '';
          meta = {
            description = "{{.Summary}}";
            homepage = "{{.Source}}";
            license = pkgs.lib.licenses.mit;
            mainProgram = "zeph-acp";
            platforms = systems;
            sourceProvenance = [ pkgs.lib.sourceTypes.binaryNativeCode ];
          };
        };
    in
    {
      packages = forEach (system: { default = package system; });
      apps = forEach (system: {
        default = {
          type = "app";
          program = "${self.packages.${system}.default}/bin/zeph-acp";
        };
      });
    };
}
