class ZephAcp < Formula
  desc "Coding agent for editors that speak the Agent Client Protocol"
  homepage "https://github.com/zeph-acp/zeph-acp"
  version "{{version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "{{url "darwin" "arm64"}}"
      sha256 "{{sum "darwin" "arm64"}}"
    end
    on_intel do
      url "{{url "darwin" "amd64"}}"
      sha256 "{{sum "darwin" "amd64"}}"
    end
  end

  on_linux do
    on_arm do
      url "{{url "linux" "arm64"}}"
      sha256 "{{sum "linux" "arm64"}}"
    end
    on_intel do
      url "{{url "linux" "amd64"}}"
      sha256 "{{sum "linux" "amd64"}}"
    end
  end

  def install
    bin.install "zeph-acp"
    man1.install Dir["man/man1/*"]
    bash_completion.install "completions/zeph-acp.bash" => "zeph-acp"
    zsh_completion.install "completions/_zeph-acp"
    fish_completion.install "completions/zeph-acp.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/zeph-acp version")
  end
end
