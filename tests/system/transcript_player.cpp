#include "system/transcript_player.hpp"

#include <chrono>
#include <exception>

#include "system/node.hpp"
#include "system/transcript.hpp"

namespace troupe::test {
namespace {

constexpr auto eventual_limit = std::chrono::seconds{90};

// Empty, or how the output differs.
std::string check_step(const terminal& at, const transcript_step& step) {
  const auto deadline = std::chrono::steady_clock::now() + eventual_limit;
  for (;;) {
    const auto got = at.run(step.command);
    auto problem = mismatch(step.expected, got.output);
    if (got.code != step.exit_code)
      problem =
          "exit code " + std::to_string(got.code) + " instead of " + std::to_string(step.exit_code);
    if (problem.empty()) return {};
    if (step.eventually && std::chrono::steady_clock::now() < deadline) continue;
    return "\n$ " + step.command + "\n" + got.output + "--- " + problem;
  }
}

std::string play_steps(const kubectl& with, const std::filesystem::path& file,
                       const std::filesystem::path& folder, const std::vector<std::string>& more) {
  const auto script = parse_transcript(read_file(file));
  std::filesystem::create_directories(folder);
  auto flags = script.flags;
  if (flags.empty()) flags = {"--runtime", "simulated", "--simulated-nodes", "3"};
  for (auto& flag : flags)
    for (const auto& [name, content] : script.files)
      if (flag == "./" + name) write_file(flag = folder / name, content);
  flags.insert(flags.end(), {"--root-dir", folder / "pods"});
  flags.insert(flags.end(), more.begin(), more.end());
  const node served{folder / "node", flags};
  const terminal at{with, folder / "home", served.kubeconfig()};
  for (const auto& [name, content] : script.files)
    write_file(at.folder() / name, content);
  for (const auto& step : script.steps) {
    if (!version_fits(with.version, step.versions)) continue;
    if (const auto problem = check_step(at, step); !problem.empty())
      return file.filename().string() + ":" + std::to_string(step.line) + " with kubectl " +
             with.version + problem;
  }
  return {};
}

}  // namespace

std::string play_transcript(const kubectl& with, const std::filesystem::path& file,
                            const std::filesystem::path& folder,
                            const std::vector<std::string>& more) {
  try {
    return play_steps(with, file, folder, more);
  } catch (const std::exception& error) {
    return file.filename().string() + ": " + error.what();
  }
}

}  // namespace troupe::test
