// A sealed text can be opened only with its key, and only as a whole.
#include "server/credentials/sealed_text.hpp"

#include <catch2/catch.hpp>

using namespace troupe::server;

TEST_CASE("a sealed text opens with its key in its context") {
  const auto key = make_sealing_key().value();
  CHECK(is_sealing_key(key));
  for (const auto* text : {"", "a", "the keys of a cluster"}) {
    const auto sealed = seal(text, key, "abc123").value();
    CHECK(sealed.find("the keys") == std::string::npos);
    CHECK(unseal(sealed, key, "abc123") == std::string{text});
  }
}

TEST_CASE("a sealed text opens with no other key and in no other context") {
  const auto key = make_sealing_key().value();
  const auto sealed = seal("text", key, "abc123").value();
  CHECK_FALSE(unseal(sealed, make_sealing_key().value(), "abc123"));
  CHECK_FALSE(unseal(sealed, key, "abc124"));
  CHECK_FALSE(unseal(sealed, key.substr(1), "abc123"));
  CHECK_FALSE(seal("text", "0", "abc123"));
}

TEST_CASE("a sealed text that was cut or changed anywhere does not open") {
  const auto key = make_sealing_key().value();
  const auto sealed = seal("text", key, "").value();
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    auto changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    CHECK_FALSE(unseal(changed, key, ""));
    CHECK_FALSE(unseal(sealed.substr(0, i), key, ""));
  }
}

TEST_CASE("the same text is sealed to another one each time") {
  const auto key = make_sealing_key().value();
  CHECK(seal("text", key, "").value() != seal("text", key, "").value());
}
