// Frames of HTTP/2 made by hand, for clients that do what no library does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::test::http2_frames {

inline constexpr char headers_frame = 1, settings_frame = 4, ping_frame = 6, continuation_frame = 9;
inline constexpr char end_stream = 1, end_headers = 4;

std::string frame(char type, char flags, std::uint32_t stream, std::string_view payload);

// What a client begins with; the windows of its streams are closed: it takes no body.
std::string hello();

// A literal field that is not indexed, with less than 127 bytes in both.
std::string field(std::string_view name, std::string_view value);

// GET https://test/hello, or another short path.
std::string request_block(std::string_view path = "/hello");

// A hello, and so many requests whose answers have no way to the client.
std::string streams_with_closed_window(std::uint32_t streams, std::string_view path = "/hello");

}  // namespace troupe::test::http2_frames
