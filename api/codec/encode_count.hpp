// Counts the texts (objects and statuses as JSON, YAML or protobuf) that a thread has encoded for
// clients. The store's threads must encode none: a test checks that. Costs one addition a text.
#pragma once

#include <cstdint>

namespace troupe::api {

namespace detail {
inline thread_local std::uint64_t encoded_texts = 0;
}

inline void count_encoded_text() noexcept {
  ++detail::encoded_texts;
}
// The count of the calling thread, since its start.
inline std::uint64_t encoded_texts() noexcept {
  return detail::encoded_texts;
}

}  // namespace troupe::api
