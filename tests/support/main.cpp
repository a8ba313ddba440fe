// The main of every test program. The log shows warnings only, so that a failure is found in what
// CI prints; SPDLOG_LEVEL=info shows more. The failed tests, and the skipped ones, are listed once
// more at the end, and counted: Catch counts a skipped test as passed. Nodes that tests start do
// not evict pods when the machine's disk is nearly full: a test that needs eviction sets its own
// threshold.
#define CATCH_CONFIG_RUNNER
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <spdlog/cfg/env.h>
#include <spdlog/spdlog.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "support/programs/node_settings.hpp"
#include "support/skip.hpp"

namespace {

struct skipped_tests {
  std::mutex mutex;
  std::vector<std::string> lines;
  std::set<std::string> names;
};

skipped_tests& skipped() {
  static skipped_tests all;
  return all;
}

class test_summary : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseEnded(const Catch::TestCaseStats& test) override {
    if (test.totals.assertions.failed > 0)
      failed_.push_back(test.testInfo.name + "  " + test.testInfo.lineInfo.file);
    else
      ++(skipped().names.contains(test.testInfo.name) ? skipped_ : passed_);
  }
  void testRunEnded(const Catch::TestRunStats&) override {
    for (const auto& each : failed_)
      std::cout << "failed: " << each << '\n';
    for (const auto& each : skipped().lines)
      std::cout << "skipped: " << each << '\n';
    // ctest and tools/test read this line.
    std::cout << passed_ << " passed, " << skipped_ << " skipped, " << failed_.size()
              << " failed\n";
  }

 private:
  std::vector<std::string> failed_;
  std::size_t passed_ = 0, skipped_ = 0;
};

}  // namespace

void troupe::test::skip(const std::string& reason) {
  const auto name = Catch::getResultCapture().getCurrentTestName();
  auto line = name + ": " + reason;
  auto& all = skipped();
  const std::lock_guard lock{all.mutex};
  all.names.insert(name);
  if (all.lines.empty() || all.lines.back() != line) all.lines.push_back(std::move(line));
}

CATCH_REGISTER_LISTENER(test_summary)

int main(int count, char** arguments) {
  ::setenv(troupe::test::eviction_disk.name, troupe::test::eviction_disk.value, 0);
  spdlog::set_level(spdlog::level::warn);
  spdlog::cfg::load_env_levels();
  return Catch::Session().run(count, arguments);
}
