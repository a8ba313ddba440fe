#include "runtime/link/transport/hello.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/link/defaults.hpp"
#include "runtime/link/transport/text.hpp"

namespace troupe::runtime::link {
namespace {

constexpr const char* program = "troupe " TROUPE_VERSION;

}  // namespace

Hello first_hello() {
  Hello hello;
  hello.set_oldest(defaults::oldest_version);
  hello.set_newest(defaults::newest_version);
  hello.set_program(program);
  return hello;
}

tl::expected<Hello, std::string> answer(const Hello& caller) {
  const auto chosen = std::min(caller.newest(), defaults::newest_version);
  if (chosen < defaults::oldest_version || chosen < caller.oldest()) {
    const bool caller_is_older = caller.newest() < defaults::oldest_version;
    return tl::make_unexpected(fmt::format(
        "{} here speaks versions {} to {} of the link, {} there {} to {}: upgrade the one {}",
        program, defaults::oldest_version, defaults::newest_version, one_line(caller.program()),
        caller.oldest(), caller.newest(), caller_is_older ? "there" : "here"));
  }
  auto hello = first_hello();
  hello.set_oldest(chosen);
  hello.set_newest(chosen);
  return hello;
}

tl::expected<void, std::string> check(const Hello& answer) {
  if (answer.newest() == answer.oldest() && answer.newest() >= defaults::oldest_version &&
      answer.newest() <= defaults::newest_version)
    return {};
  return tl::make_unexpected(
      fmt::format("{} there chose versions {} to {} of the link, {} here speaks {} to {}",
                  one_line(answer.program()), answer.oldest(), answer.newest(), program,
                  defaults::oldest_version, defaults::newest_version));
}

}  // namespace troupe::runtime::link
