#include "support/random_text.hpp"

#include <array>

#include "api/codec/json_text.hpp"
#include "api/values/quantity.hpp"

namespace troupe::api {
namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view letters_and_digits = "abcdefghijklmnopqrstuvwxyz0123456789";

// Texts that are difficult for text formats.
constexpr std::array<std::string_view, 24> awkward = {"\"",
                                                      "\\",
                                                      "/",
                                                      "\n",
                                                      "\t",
                                                      "\r",
                                                      "\x01",
                                                      "\x7f",
                                                      "<",
                                                      ">",
                                                      "&",
                                                      "'",
                                                      "\xE2\x80\xA8",
                                                      "\xE2\x82\xAC",
                                                      "\xF0\x9F\x98\x80",
                                                      "\xC3\xA9",
                                                      ": ",
                                                      " #",
                                                      "- ",
                                                      "true",
                                                      "null",
                                                      "0644",
                                                      "{}",
                                                      "\xEF\xBF\xBD"};

}  // namespace

std::int64_t random_text::between(std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
}

char random_text::letter(std::string_view from) {
  return from[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(from.size()) - 1))];
}

std::string random_text::word(std::int64_t size) {
  std::string out(1, letter(letters));
  while (static_cast<std::int64_t>(out.size()) + 1 < size)
    out += between(0, 9) == 0 ? '-' : letter(letters_and_digits);
  return out += letter(letters_and_digits);
}

std::string random_text::of(Syntax syntax) {
  switch (syntax) {
    case QUALIFIED_NAME:
      return word(8) + ".example/" + word(between(3, 20));
    case PORT_NAME:
      return word(between(2, 10));
    case ENV_NAME: {
      std::string name = word(between(3, 12));
      for (char& c : name)
        c = c == '-' ? '_' : c;
      return name;
    }
    case ABSOLUTE_PATH:
      return "/" + word(5) + "/" + word(between(2, 9));
    case IP:
      return "10." + std::to_string(between(0, 255)) + "." + std::to_string(between(0, 255)) + "." +
             std::to_string(between(1, 254));
    case CONFIG_KEY:
    case DNS_SUBDOMAIN:
      return word(between(3, 12)) + "." + word(between(2, 8));
    default:
      return word(between(3, 20));
  }
}

std::string random_text::any() {
  std::string out;
  for (auto left = between(0, size_max_); left > 0; --left) {
    if (between(0, 2) == 0)
      out += awkward[static_cast<std::size_t>(between(0, awkward.size() - 1))];
    else
      out += static_cast<char>(between(0x20, 0x7e));
  }
  return out;
}

std::string random_text::bytes() {
  std::string out;
  for (auto left = between(1, size_max_); left > 0; --left)
    out += static_cast<char>(between(0, 255));
  return out;
}

std::string random_text::amount() {
  constexpr std::array<std::string_view, 8> suffixes = {"", "m", "k", "M", "Ki", "Mi", "Gi", "e3"};
  const auto suffix = suffixes[static_cast<std::size_t>(between(0, suffixes.size() - 1))];
  const auto parsed = quantity::parse(std::to_string(between(1, 5000)).append(suffix));
  return parsed.value_or(quantity()).str();
}

std::string random_text::json() {
  std::string out = "{";
  for (auto left = between(0, 3); left > 0; --left) {
    if (out.size() > 1) out += ',';
    append_json_string(out, "f:" + word(6));
    out += ':';
    if (between(0, 1) == 0)
      append_json_string(out, any());
    else
      out += between(0, 1) == 0 ? "[1,2.5,true,null]" : "{}";
  }
  return out + "}";
}

}  // namespace troupe::api
