// The transcripts of tests/system/transcripts with the kubectls of this machine (tools/kubectls),
// each against a node of its own: all of them with the oldest and the newest kubectl,
// core.transcript with each of the others.
//
// TROUPE_KUBECTL=all runs everything, TROUPE_KUBECTL=1.33 all transcripts with one version;
// TROUPE_TRANSCRIPT=pods one transcript.
#include "system/kubectl.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <thread>

#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/node.hpp"
#include "system/transcript.hpp"

namespace fs = std::filesystem;
using namespace troupe::test;

namespace {

constexpr auto eventual_limit = std::chrono::seconds{90};

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// One transcript with one kubectl.
class run {
 public:
  run(kubectl with, fs::path file, fs::path folder)
      : with_{std::move(with)}, file_{std::move(file)}, folder_{std::move(folder)} {}

  // Empty, or the first error.
  std::string go() const {
    try {
      return play(parse_transcript(read_file(file_)));
    } catch (const std::exception& error) {
      return file_.filename().string() + ": " + error.what();
    }
  }

 private:
  std::string play(const transcript& script) const {
    fs::create_directories(folder_);
    auto flags = script.flags;
    if (flags.empty()) flags = {"--runtime", "simulated", "--simulated-nodes", "3"};
    for (auto& flag : flags)
      for (const auto& [name, content] : script.files)
        if (flag == "./" + name) write_file(flag = folder_ / name, content);
    flags.insert(flags.end(), {"--root-dir", folder_ / "pods"});
    const node served{folder_ / "node", flags};
    const terminal at{with_, folder_ / "home", served.kubeconfig()};
    for (const auto& [name, content] : script.files)
      write_file(at.folder() / name, content);
    for (const auto& step : script.steps) {
      if (!version_fits(with_.version, step.versions)) continue;
      if (auto problem = check(at, step); !problem.empty()) return problem;
    }
    return {};
  }

  std::string check(const terminal& at, const transcript_step& step) const {
    const auto deadline = std::chrono::steady_clock::now() + eventual_limit;
    for (;;) {
      const auto got = at.run(step.command);
      auto problem = mismatch(step.expected, got.output);
      if (got.code != step.exit_code)
        problem = "exit code " + std::to_string(got.code) + " instead of " +
                  std::to_string(step.exit_code);
      if (problem.empty()) return {};
      if (step.eventually && std::chrono::steady_clock::now() < deadline) continue;
      return file_.filename().string() + ":" + std::to_string(step.line) + " with kubectl " +
             with_.version + "\n$ " + step.command + "\n" + got.output + "--- " + problem;
    }
  }

  const kubectl with_;
  const fs::path file_;
  const fs::path folder_;
};

struct job {
  kubectl with;
  fs::path file;
};

std::vector<job> jobs() {
  const auto version = setting("TROUPE_KUBECTL");
  const auto wanted = setting("TROUPE_TRANSCRIPT");
  std::vector<fs::path> files;
  for (const auto& each : transcript_files())
    if (wanted.empty() || each.stem() == wanted) files.push_back(each);
  const auto all = kubectls(version == "all" ? "" : version);
  std::vector<job> out;
  for (const auto& with : all) {
    const bool outer = with.version == all.front().version || with.version == all.back().version;
    for (const auto& file : files)
      if (outer || !version.empty() || file.stem() == "core") out.push_back({with, file});
  }
  return out;
}

}  // namespace

TEST_CASE("every kubectl prints the output of the transcripts") {
  const auto all = jobs();
  if (all.empty()) return troupe::test::skip("no kubectl is installed; tools/setup installs one");
  scratch_folder folder;
  std::mutex mutex;
  std::size_t next = 0;
  std::vector<std::string> problems;
  const auto work = [&] {
    for (;;) {
      std::unique_lock lock{mutex};
      if (next == all.size()) return;
      const auto number = next++;
      lock.unlock();
      run one{all[number].with, all[number].file, folder.path() / std::to_string(number)};
      auto problem = one.go();
      lock.lock();
      if (!problem.empty()) problems.push_back(std::move(problem));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(2u, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back(work);
  for (auto& thread : threads)
    thread.join();
  for (const auto& problem : problems)
    FAIL_CHECK(problem);
  CHECK(next == all.size());
  std::cout << "kubectl: " << all.size() << " runs of transcripts" << std::endl;
}
