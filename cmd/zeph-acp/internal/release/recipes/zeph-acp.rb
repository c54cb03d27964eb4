class ZephAcp < Formula
  desc "{{.Summary}}"
  homepage "{{.Source}}"
  version "{{.Version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "{{.URL}}/{{(.Archive "darwin" "arm64").Name}}"
      sha256 "{{(.Archive "darwin" "arm64").SHA256}}"
    end
    on_intel do
      url "{{.URL}}/{{(.Archive "darwin" "amd64").Name}}"
      sha256 "{{(.Archive "darwin" "amd64").SHA256}}"
    end
  end

  on_linux do
    on_arm do
      url "{{.URL}}/{{(.Archive "linux" "arm64").Name}}"
      sha256 "{{(.Archive "linux" "arm64").SHA256}}"
    end
    on_intel do
      url "{{.URL}}/{{(.Archive "linux" "amd64").Name}}"
      sha256 "{{(.Archive "linux" "amd64").SHA256}}"
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
