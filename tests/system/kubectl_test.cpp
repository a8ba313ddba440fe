// The transcripts of tests/system/transcripts with the kubectls of this machine (tools/kubectls),
// each against a node of its own: all of them with the oldest and the newest kubectl,
// core.transcript with each of the others.
//
// TROUPE_KUBECTL=all runs everything, TROUPE_KUBECTL=1.33 all transcripts with one version;
// TROUPE_TRANSCRIPT=pods one transcript.
#include "system/kubectl.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <thread>

#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/transcript.hpp"
#include "system/transcript_player.hpp"

namespace fs = std::filesystem;
using namespace troupe::test;

namespace {

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

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
      auto problem = play_transcript(all[number].with, all[number].file,
                                     folder.path() / std::to_string(number));
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
