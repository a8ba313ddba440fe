// The kind of CONTRIBUTING.md: its text is read as the build reads the schema.
#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "api/kind.hpp"
#include "api/schema/options.pb.h"
#include "build_paths.hpp"

namespace troupe::api::testing {
namespace {

using namespace google::protobuf;

std::string kind_of_the_guide() {
  std::ifstream in{std::string{TROUPE_SOURCE_DIR} + "/CONTRIBUTING.md"};
  const std::string guide{std::istreambuf_iterator<char>{in}, {}};
  const std::string begin = "```proto\n";
  const auto from = guide.find(begin);
  REQUIRE(from != std::string::npos);
  const auto start = from + begin.size();
  return guide.substr(start, guide.find("```", start) - start);
}

struct failures final : io::ErrorCollector {
  void AddError(int line, int, const std::string& message) override {
    FAIL_CHECK("line " << line + 1 << ": " << message);
  }
};

}  // namespace

TEST_CASE("the kind of the guide is a kind, with a list, and all of it is documented") {
  const auto text = kind_of_the_guide();
  io::ArrayInputStream bytes{text.data(), static_cast<int>(text.size())};
  failures errors;
  io::Tokenizer tokens{&bytes, &errors};
  FileDescriptorProto parsed;
  compiler::Parser parser;
  parser.RecordErrorsTo(&errors);
  REQUIRE(parser.Parse(&tokens, &parsed));
  parsed.set_name("api/schema/trials_v1.proto");
  DescriptorPool pool{DescriptorPool::generated_pool()};
  const auto* file = pool.BuildFile(parsed);
  REQUIRE(file != nullptr);

  const auto* trial = file->FindMessageTypeByName("Trial");
  REQUIRE(trial != nullptr);
  const kind_info kind{trial->options().GetExtension(api::kind), *trial};
  CHECK(kind.api_version() == "trials.example.dev/v1");
  CHECK(kind.key("default", "t") == "/registry/trials/default/t");
  CHECK(file->FindMessageTypeByName(kind.list_kind()) != nullptr);
  for (int m = 0; m < file->message_type_count(); ++m) {
    const auto& message = *file->message_type(m);
    INFO(message.name());
    CHECK_FALSE(message.options().GetExtension(about).empty());
    for (int f = 0; f < message.field_count(); ++f)
      CHECK_FALSE(message.field(f)->options().GetExtension(rule).doc().empty());
  }
}

}  // namespace troupe::api::testing
