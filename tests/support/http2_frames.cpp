#include "support/http2_frames.hpp"

namespace troupe::test::http2_frames {

std::string frame(char type, char flags, std::uint32_t stream, std::string_view payload) {
  std::string out;
  for (const int shift : {16, 8, 0})
    out += static_cast<char>(payload.size() >> shift & 0xff);
  out += type;
  out += flags;
  for (const int shift : {24, 16, 8, 0})
    out += static_cast<char>(stream >> shift & 0xff);
  return out.append(payload);
}

std::string hello() {
  return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
         frame(settings_frame, 0, 0, std::string_view{"\0\4\0\0\0\0", 6});
}

std::string field(std::string_view name, std::string_view value) {
  std::string out{"\0", 1};
  out += static_cast<char>(name.size());
  out += name;
  out += static_cast<char>(value.size());
  return out.append(value);
}

std::string request_block(std::string_view path) {
  return std::string{"\x82\x87\x04"} + static_cast<char>(path.size()) + std::string{path} +
         "\x41\x04test";
}

std::string streams_with_closed_window(std::uint32_t streams, std::string_view path) {
  auto out = hello();
  for (std::uint32_t i = 0; i < streams; ++i)
    out += frame(headers_frame, end_stream | end_headers, 2 * i + 1,
                 request_block(path) + field("x-something", std::string(100, 'x')));
  return out;
}

}  // namespace troupe::test::http2_frames
