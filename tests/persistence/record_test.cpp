#include "persistence/format/record.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

namespace troupe::persistence {
namespace {

std::uint64_t any_number(std::mt19937_64& random) {
  return random() >> random() % 64;
}

std::string any_text(std::mt19937_64& random) {
  std::string text(random() % 40, '\0');
  for (auto& each : text)
    each = static_cast<char>(random());
  return text;
}

change_record any_change(std::mt19937_64& random, std::string_view key, std::string_view object) {
  change_record made;
  made.type = static_cast<change_type>(random() % 3);
  made.created = any_number(random);
  made.previous = made.type == change_type::created ? 0 : 1 + any_number(random) / 2;
  made.time += std::chrono::microseconds{any_number(random) % (1ull << 50)};
  made.cause = {any_number(random), any_number(random), any_text(random)};
  made.key = key;
  made.object = object;
  return made;
}

TEST_CASE("a change is read back as written") {
  std::mt19937_64 random{1};
  for (int i = 0; i < 2'000; ++i) {
    const auto key = any_text(random), object = any_text(random);
    const auto written = any_change(random, key, object);
    const auto bytes = change_head(written) + object;
    const auto read = read_change(bytes);
    REQUIRE(read);
    CHECK(read->type == written.type);
    CHECK(read->created == written.created);
    CHECK(read->previous == written.previous);
    CHECK(read->time == written.time);
    CHECK(read->cause.request == written.cause.request);
    CHECK(read->cause.trigger == written.cause.trigger);
    CHECK(read->cause.author == written.cause.author);
    CHECK(read->key == key);
    CHECK(read->object == object);
  }
}

TEST_CASE("a change at a time outside the range of the clock is refused") {
  const std::string head("\x01\x01\x01", 3), rest(4, '\0');
  const std::string year_3000("\x80\x80\xAC\xE2\xCB\xBD\xDE\x39", 8);
  CHECK(read_change(head + std::string(1, '\0') + rest));
  CHECK_FALSE(read_change(head + std::string(8, '\xFF') + "\x7F" + rest));
  CHECK_FALSE(read_change(head + year_3000 + rest));
}

TEST_CASE("a state is read as it was written, and one from the future of itself is refused") {
  const auto bytes = state_head(7, 300) + "object";
  const auto read = read_state(bytes);
  REQUIRE(read);
  CHECK(read->created == 7);
  CHECK(read->modified == 300);
  CHECK(read->object == "object");
  CHECK_FALSE(read_state(state_head(8, 7)));
  CHECK_FALSE(read_state(state_head(0, 7)));
  CHECK_FALSE(read_state(""));
}

TEST_CASE("keys of changes are ordered as their revisions") {
  std::mt19937_64 random{1};
  for (int i = 0; i < 2'000; ++i) {
    const change_id a{any_number(random), static_cast<std::uint32_t>(any_number(random))};
    const change_id b{random() % 3 == 0 ? a.at : any_number(random),
                      static_cast<std::uint32_t>(any_number(random))};
    const bool less = a.at < b.at || (a.at == b.at && a.index < b.index);
    CHECK((change_key(a) < change_key(b)) == less);
    const auto read = read_change_key(change_key(a));
    REQUIRE(read);
    CHECK(read->at == a.at);
    CHECK(read->index == a.index);
  }
  const auto last = std::numeric_limits<revision>::max();
  CHECK(read_base_key(base_key(last, "key"))->at == last);
  CHECK(read_base_key(base_key(last, "key"))->key == "key");
  CHECK_FALSE(read_base_key(base_key(last, "")));
  CHECK_FALSE(read_change_key("short"));
}

TEST_CASE("foreign bytes give nothing, whatever they are") {
  std::mt19937_64 random{1};
  for (int i = 0; i < 5'000; ++i) {
    const auto key = any_text(random), object = any_text(random);
    auto bytes = change_head(any_change(random, key, object));
    bytes.resize(random() % (bytes.size() + 1));
    for (auto flips = random() % 4; flips > 0 && !bytes.empty(); --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    // Must read within its bounds (checked by a sanitizer) and return only views of its input.
    if (const auto read = read_change(bytes)) CHECK(read->key.size() <= bytes.size());
    if (const auto read = read_state(bytes)) CHECK(read->object.size() <= bytes.size());
  }
  CHECK_FALSE(read_number(""));
  CHECK_FALSE(read_number("12x"));
  CHECK_FALSE(read_number("99999999999999999999999"));
  CHECK(read_number("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
}

}  // namespace
}  // namespace troupe::persistence
