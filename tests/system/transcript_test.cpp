#include "system/transcript.hpp"

#include <catch2/catch.hpp>

using namespace troupe::test;

TEST_CASE("a transcript has files, commands and expected output") {
  const auto parsed = parse_transcript(
      "# what it shows\n"
      "@ --runtime process\n"
      "< a.yaml\n"
      "| kind: Pod\n"
      "|\n"
      "|   indented: yes\n"
      "\n"
      "$ kubectl get pods\n"
      "NAME   *\n"
      "$~ [1] {>=1.27} kubectl wait\n");
  CHECK(parsed.flags == std::vector<std::string>{"--runtime", "process"});
  REQUIRE(parsed.files.size() == 1);
  CHECK(parsed.files[0].content == "kind: Pod\n\n  indented: yes\n");
  REQUIRE(parsed.steps.size() == 2);
  CHECK(parsed.steps[0].command == "kubectl get pods");
  CHECK(parsed.steps[0].expected == std::vector<std::string>{"NAME   *"});
  CHECK(parsed.steps[1].eventually);
  CHECK(parsed.steps[1].exit_code == 1);
  CHECK(parsed.steps[1].versions == ">=1.27");
  CHECK(parsed.steps[1].command == "kubectl wait");
  CHECK_THROWS(parse_transcript("output of nothing\n"));
}

TEST_CASE("expected lines are globs, regular expressions or any number of lines") {
  const std::string output = "NAME   READY\nweb    1/1\n\ndb     0/1\n";
  CHECK(mismatch({"NAME   READY", "web    1/1", "db     0/1"}, output).empty());
  CHECK(mismatch({"NAME *", "...", "db *"}, output).empty());
  CHECK(mismatch({"...", "~ web +[0-9]/1", "..."}, output).empty());
  CHECK(mismatch({"NAME *", "web *"}, output) == "there are more lines than expected");
  CHECK(mismatch({"NAME *", "api *", "..."}, output) == "nothing fits \"api *\"");
  CHECK(mismatch({}, "") == "");
}

TEST_CASE("a step may be for some versions of kubectl") {
  CHECK(version_fits("1.27.16", ">=1.27"));
  CHECK(version_fits("1.33.0", ">=1.27"));
  CHECK_FALSE(version_fits("1.20.2", ">=1.27"));
  CHECK(version_fits("1.20.2", "<1.27"));
  CHECK(version_fits("1.27.16", "=1.27"));
  CHECK_FALSE(version_fits("1.28.0", "=1.27"));
  CHECK(version_fits("1.20.2", ""));
}
