#include "server/http/headers.hpp"

#include "api/values/ascii.hpp"

namespace troupe::server {

void header_block::add(std::string_view name, std::string_view value) {
  fields_.push_back({static_cast<std::uint32_t>(text_.size()),
                     static_cast<std::uint32_t>(name.size()),
                     static_cast<std::uint32_t>(value.size())});
  for (const char c : name)
    text_.push_back(api::to_lower(c));
  text_.append(value);
}

void header_block::clear() noexcept {
  text_.clear();
  fields_.clear();
}

std::string_view header_block::name(std::size_t i) const noexcept {
  return std::string_view(text_).substr(fields_[i].at, fields_[i].name_size);
}

std::string_view header_block::value(std::size_t i) const noexcept {
  return std::string_view(text_).substr(fields_[i].at + fields_[i].name_size,
                                        fields_[i].value_size);
}

std::string_view header_block::get(std::string_view key) const noexcept {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (name(i) == key) return value(i);
  }
  return {};
}

bool header_block::has(std::string_view key) const noexcept {
  return count(key) > 0;
}

std::size_t header_block::count(std::string_view key) const noexcept {
  std::size_t found = 0;
  for (std::size_t i = 0; i < fields_.size(); ++i)
    found += name(i) == key ? 1 : 0;
  return found;
}

std::string header_block::joined(std::string_view key) const {
  std::string all;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (name(i) != key) continue;
    if (!all.empty()) all += ", ";
    all += value(i);
  }
  return all;
}

}  // namespace troupe::server
