// Reads and writes a container's streams step by step, waiting for each part.
#pragma once

#include <algorithm>
#include <future>
#include <string>
#include <utility>

#include "actors/kubelet/runtime/streams.hpp"

namespace troupe::test {

inline actors::exec_part next(actors::exec_stream& stream) {
  std::promise<actors::exec_part> part;
  stream.read([&](actors::exec_part read) { part.set_value(std::move(read)); });
  return part.get_future().get();
}

template <class Stream>
bool say(Stream& stream, std::string text) {
  std::promise<bool> taken;
  stream.write(std::move(text), [&](bool well) { taken.set_value(well); });
  return taken.get_future().get();
}

struct whole {
  std::string output, error;
  std::size_t largest = 0;
  int code = -1;  // below 0: it has not ended
};

// Reads to the end, or until the output contains `mark`.
inline whole read_all(actors::exec_stream& stream, const std::string& mark = {}) {
  whole all;
  while (mark.empty() || all.output.find(mark) == std::string::npos) {
    const auto part = next(stream);
    if (part.from == actors::exec_part::kind::ended) {
      all.code = part.code;
      return all;
    }
    all.largest = std::max(all.largest, part.bytes.size());
    (part.from == actors::exec_part::kind::error ? all.error : all.output) += part.bytes;
  }
  return all;
}

}  // namespace troupe::test
