#include "actors/network/services/element_lines.hpp"

#include <fmt/format.h>

namespace troupe::actors::services {

namespace {

constexpr std::size_t elements_a_line = 500;

}  // namespace

void element_lines::add(const std::string& collection, const std::string& key,
                        const std::string& data) {
  if (collection != collection_ || count_ == elements_a_line) {
    end();
    collection_ = collection;
    to_ += fmt::format("{} element {} {} {{ ", verb_, table_, collection_);
  }
  if (count_++ > 0) to_ += ", ";
  to_ += data.empty() ? key : key + " : " + data;
}

void element_lines::end() {
  if (count_ > 0) to_ += " }\n";
  count_ = 0;
}

}  // namespace troupe::actors::services
