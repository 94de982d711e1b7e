class Rawr < Formula
  desc "Decides when a coding agent's context is compacted and carries the agent across"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/rawr-darwin-arm64.tar.gz"
      sha256 "@SHA256_darwin-arm64@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/rawr-darwin-x64.tar.gz"
      sha256 "@SHA256_darwin-x64@"
    end
  end

  on_linux do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/rawr-linux-arm64.tar.gz"
      sha256 "@SHA256_linux-arm64@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/rawr-linux-x64.tar.gz"
      sha256 "@SHA256_linux-x64@"
    end
  end

  def install
    bin.install "rawr"
    man1.install Dir["man/*.1"]
    generate_completions_from_executable(bin/"rawr", "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/rawr --version")
    assert_match "Context compacted", shell_output("#{bin}/rawr demo")
  end
end
