// The main of every test program. The log shows warnings only, so that a failure is found in what
// CI prints; SPDLOG_LEVEL=info shows more. The tests that failed are named once more at the end.
#define CATCH_CONFIG_RUNNER
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <spdlog/cfg/env.h>
#include <spdlog/spdlog.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <string>
#include <vector>

namespace {

class failed_tests : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseEnded(const Catch::TestCaseStats& test) override {
    if (test.totals.assertions.failed > 0)
      names_.push_back(test.testInfo.name + "  " + test.testInfo.lineInfo.file);
  }
  void testRunEnded(const Catch::TestRunStats&) override {
    for (const auto& each : names_)
      std::cout << "failed: " << each << '\n';
  }

 private:
  std::vector<std::string> names_;
};

}  // namespace

CATCH_REGISTER_LISTENER(failed_tests)

int main(int count, char** arguments) {
  spdlog::set_level(spdlog::level::warn);
  spdlog::cfg::load_env_levels();
  return Catch::Session().run(count, arguments);
}
