#include "server/http/body.hpp"

#include <utility>

namespace troupe::server {

void body::add(std::string_view made) {
  if (!made.empty()) add(shared_text{made});
}

void body::add(shared_text text) {
  if (!text) return;
  const std::string_view view = *text;
  add(view, std::move(text));
}

void body::add(std::string_view text, shared_text owner) {
  if (text.empty()) return;
  size_bytes_ += text.size();
  pieces_.push_back({text, std::move(owner)});
}

void body::add_static(std::string_view text) {
  add(text, shared_text{});
}

std::vector<piece> body::release() noexcept {
  size_bytes_ = 0;
  return std::exchange(pieces_, {});
}

std::string body::text() const {
  std::string all;
  all.reserve(size_bytes_);
  for (const auto& part : pieces_)
    all += part.text;
  return all;
}

}  // namespace troupe::server
