// Builds JSON text from events, without white space.
#pragma once

#include <string>
#include <string_view>

#include "api/codec/json_sax.hpp"
#include "api/codec/json_text.hpp"

namespace troupe::api {

class json_writer {
 public:
  void scalar(scalar_kind kind, std::string_view text) {
    comma();
    if (kind == scalar_kind::string)
      append_json_string(text_, text);
    else
      text_ += text;
  }
  void key(std::string_view name) {
    comma();
    append_json_string(text_, name);
    text_ += ':';
  }
  void begin(char bracket) {
    comma();
    text_ += bracket;
    ++depth_;
  }
  void end(char bracket) {
    text_ += bracket;
    --depth_;
  }

  // True inside an array or object.
  bool open() const noexcept { return depth_ != 0; }
  const std::string& text() const noexcept { return text_; }
  void clear() { text_.clear(); }

 private:
  void comma() {
    if (text_.empty()) return;
    const char last = text_.back();
    if (last != '{' && last != '[' && last != ':') text_ += ',';
  }

  std::string text_;
  std::size_t depth_ = 0;
};

}  // namespace troupe::api
