// The path of a value in an object, as in error messages: spec.containers[0].name.
//
// One buffer that grows and shrinks while code walks over an object, so that walking a valid object
// allocates nothing. A step is removed when its `step` object is destroyed; steps end in reverse
// order.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::api {

class field_path {
 public:
  class [[nodiscard]] step {
   public:
    step(const step&) = delete;
    step& operator=(const step&) = delete;
    ~step() { path_.text_.resize(mark_); }

   private:
    friend class field_path;
    step(field_path& path, std::size_t mark) : path_(path), mark_(mark) {}

    field_path& path_;
    std::size_t mark_;
  };

  // A step into a field: "spec", then ".containers". An empty name adds nothing (inlined fields).
  step field(std::string_view name) {
    const auto mark = text_.size();
    if (!text_.empty() && !name.empty()) text_ += '.';
    text_ += name;
    return step(*this, mark);
  }
  // Into an element of a list: "[0]".
  step index(std::size_t i) {
    const auto mark = text_.size();
    text_ += '[';
    text_ += std::to_string(i);
    text_ += ']';
    return step(*this, mark);
  }
  // Into an entry of a map: "[app]".
  step key(std::string_view key) {
    const auto mark = text_.size();
    text_ += '[';
    text_ += key;
    text_ += ']';
    return step(*this, mark);
  }
  // Into an element of a list field: ".containers[0]".
  step item(std::string_view name, std::size_t i) {
    const auto mark = text_.size();
    if (!text_.empty()) text_ += '.';
    text_ += name;
    text_ += '[';
    text_ += std::to_string(i);
    text_ += ']';
    return step(*this, mark);
  }

  const std::string& str() const noexcept { return text_; }

 private:
  std::string text_;
};

}  // namespace troupe::api
