// The kind of CONTRIBUTING.md: its text is compiled as the build compiles the schema.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "api/kind.hpp"
#include "api/schema/options.pb.h"
#include "build_paths.hpp"
#include "support/scratch_folder.hpp"

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

// Parses as the build's protoc does; the file is in no folder of the schema.
FileDescriptorProto parsed(const std::string& text) {
  const test::scratch_folder folder;
  const auto source = folder.write("trials_v1.proto", text);
  const auto result = folder.path() / "trials.bin";
  const auto command = "protoc -I '" + folder.path().string() +
                       "' -I '" TROUPE_SOURCE_DIR "' --descriptor_set_out='" + result.string() +
                       "' '" + source.string() + "'";
  INFO(command);
  REQUIRE(std::system(command.c_str()) == 0);
  std::ifstream in{result, std::ios::binary};
  FileDescriptorSet files;
  REQUIRE(files.ParseFromIstream(&in));
  REQUIRE(files.file_size() == 1);
  return files.file(0);
}

}  // namespace

TEST_CASE("the kind of the guide is a kind, with a list, and all of it is documented") {
  DescriptorPool pool{DescriptorPool::generated_pool()};
  const auto* file = pool.BuildFile(parsed(kind_of_the_guide()));
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
