// How many texts for clients (objects and statuses as JSON, YAML or protobuf) a thread has encoded.
// The threads of the store must encode none: a test asks them. Costs one addition for each text.
#pragma once

#include <cstdint>

namespace troupe::api {

namespace detail {
inline thread_local std::uint64_t encoded_texts = 0;
}

inline void count_encoded_text() noexcept {
  ++detail::encoded_texts;
}
// Of the calling thread, since its start.
inline std::uint64_t encoded_texts() noexcept {
  return detail::encoded_texts;
}

}  // namespace troupe::api
