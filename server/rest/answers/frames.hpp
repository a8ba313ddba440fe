// Encoded watch events, shared by all watches with the same form.
#pragma once

#include <array>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>

#include "actors/core/event_list.hpp"
#include "api/error.hpp"
#include "server/http/body.hpp"
#include "server/rest/answers/answers.hpp"

namespace troupe::server {

struct frame_form {
  response_format answer;
  included rows = included::metadata;
  // For a table: include the column definitions, which only the first event of a watch needs.
  bool columns = true;

  bool operator==(const frame_form&) const = default;
};

// In protobuf each frame is preceded by its length.
inline constexpr std::size_t frame_length_bytes = 4;

// -- single frames ------------------------------------------------------------------------------

std::string event_frame(const frame_form& form, actors::event_type type,
                        const api::object_ptr& object);
// `initial_end`: marks the end of the initial events (kubernetes: WatchList).
std::string bookmark_frame(const frame_form& form, const api::kind_info& kind,
                           std::uint64_t revision, bool initial_end);
std::string error_frame(const frame_form& form, const api::error& error);

// A cache of bounded size. Thread safe. Many watches need the same event at the same time; a later
// one encodes the frame again.
class frame_cache {
 public:
  shared_text get(const frame_form& form, actors::event_type type, const api::object_ptr& object);

 private:
  struct entry {
    std::mutex mutex;
    frame_form form;
    actors::event_type type = actors::event_type::added;
    api::object_ptr object;
    std::time_t second = 0;
    shared_text frame;
  };
  static constexpr std::size_t entries = 256;

  std::array<entry, entries> entries_;
};

}  // namespace troupe::server
