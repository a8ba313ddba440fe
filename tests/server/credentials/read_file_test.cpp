#include <catch2/catch.hpp>
#include <fstream>

#include "server/credentials/kubeconfig.hpp"
#include "server/defaults.hpp"
#include "support/scratch_folder.hpp"

using namespace troupe;
using Catch::Contains;

TEST_CASE("a configured file is read up to a limit, and a directory is refused") {
  const test::scratch_folder folder;
  const auto path = folder.path() / "named";
  const auto write = [&](std::size_t size) { std::ofstream{path} << std::string(size, 'x'); };
  write(server::defaults::named_file_bytes);
  CHECK(server::read_file(path).value().size() == server::defaults::named_file_bytes);
  write(server::defaults::named_file_bytes + 1);
  CHECK_THAT(server::read_file(path).error(), Contains("named: larger than 3 MiB"));
  CHECK_THAT(server::read_file("/dev/zero").error(), Contains("/dev/zero: larger than 3 MiB"));
  CHECK_THAT(server::read_file(folder.path()).error(), Contains(": is a directory"));
  CHECK_THAT(server::read_file(folder.path() / "other").error(), Contains("other: cannot be read"));
}
