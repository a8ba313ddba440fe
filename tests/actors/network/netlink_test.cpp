// Messages to the kernel and its answers, including truncated ones and ones with a wrong length.
#include "actors/network/netlink/netlink.hpp"

#include <linux/netlink.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "support/seeds.hpp"

namespace troupe::test {

using namespace actors::netlink;

namespace {

struct part {
  std::uint32_t index = 0;
  std::uint8_t family = 0;
};

std::string body_of(const message& from) {
  return from.bytes().substr(sizeof(nlmsghdr));
}

}  // namespace

TEST_CASE("attributes of an answer are found by their type", "[network]") {
  message sent{16, 0};
  sent.fixed(part{7, 2}).attribute(1, "lo").number<std::uint32_t>(2, 1'450);
  sent.nested(3, [](message& inner) { inner.number<std::uint8_t>(4, 9); });
  const auto body = body_of(sent);
  CHECK(fixed_of<part>(body).index == 7);
  const auto found = attributes_of<part>(body);
  REQUIRE(found.size() == 3);
  CHECK(found.at(1) == "lo");
  CHECK(fixed_of<std::uint32_t>(found.at(2)) == 1'450);
  CHECK(fixed_of<std::uint8_t>(read_attributes(found.at(3)).at(4)) == 9);
}

TEST_CASE("an answer that is cut short gives what is whole of it", "[network]") {
  message sent{16, 0};
  sent.fixed(part{7, 2}).attribute(1, "a name").number<std::uint32_t>(2, 1);
  const auto body = body_of(sent);
  const auto all = attributes_of<part>(body);
  for (std::size_t size = 0; size <= body.size(); ++size) {
    const auto cut = body.substr(0, size);
    fixed_of<part>(cut);
    for (const auto& [type, bytes] : attributes_of<part>(cut))
      CHECK(all.at(type) == bytes);
  }
  CHECK(attributes_of<part>(body.substr(0, body.size() - 1)).size() == 1);
}

TEST_CASE("attributes with any lengths are read within the answer", "[network]") {
  for_each_seed(200, [](std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::string bytes(random() % 200, '\0');
    for (auto& each : bytes)
      each = static_cast<char>(random() % 24);
    for (const auto& [type, content] : read_attributes(bytes)) {
      CHECK(content.data() >= bytes.data());
      CHECK(content.data() + content.size() <= bytes.data() + bytes.size());
    }
  });
}

}  // namespace troupe::test
