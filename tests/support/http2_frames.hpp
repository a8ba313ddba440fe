// HTTP/2 frames built byte by byte, for clients that violate the protocol.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::test::http2_frames {

inline constexpr char headers_frame = 1, settings_frame = 4, ping_frame = 6, continuation_frame = 9;
inline constexpr char end_stream = 1, end_headers = 4;

std::string frame(char type, char flags, std::uint32_t stream, std::string_view payload);

// The client preface, with closed windows for its streams: the client accepts no body.
std::string hello();

// A literal field without indexing; name and value have less than 127 bytes.
std::string field(std::string_view name, std::string_view value);

// GET https://test/hello, or another short path.
std::string request_block(std::string_view path = "/hello");

// A hello, and requests whose responses the client's windows block.
std::string streams_with_closed_window(std::uint32_t streams, std::string_view path = "/hello");

}  // namespace troupe::test::http2_frames
