#include "actors/link/linked_stream.hpp"

#include <algorithm>
#include <utility>

#include "actors/link/defaults.hpp"

namespace troupe::actors {

using link_defaults::stream_piece_bytes;
using link_defaults::stream_window_bytes;

linked_stream::linked_stream(std::uint64_t ask, runtime::actor_ref session)
    : ask_{ask}, session_{std::move(session)}, room_{stream_window_bytes} {}

// -- for its handle -------------------------------------------------------------------------------

void linked_stream::read(std::function<void(exec_part)> done) {
  std::unique_lock lock{mutex_};
  reader_ = std::move(done);
  settle(std::move(lock));
}

void linked_stream::write(std::string bytes, std::function<void(bool)> done) {
  std::unique_lock lock{mutex_};
  if (end_wanted_) {
    lock.unlock();
    return done(false);
  }
  unsent_ = std::move(bytes);
  sent_ = 0;
  writer_ = std::move(done);
  settle(std::move(lock));
}

void linked_stream::close_input() {
  std::unique_lock lock{mutex_};
  end_wanted_ = true;
  settle(std::move(lock));
}

void linked_stream::resize(int rows, int columns) {
  std::unique_lock lock{mutex_};
  size_ = {rows, columns};
  settle(std::move(lock));
}

void linked_stream::close() {
  std::unique_lock lock{mutex_};
  closed_ = true;
  const auto reader = std::exchange(reader_, {});
  const auto writer = std::exchange(writer_, {});
  settle(std::move(lock));
}

// -- for its session ------------------------------------------------------------------------------

void linked_stream::opened(std::uint32_t credit) {
  const std::lock_guard lock{mutex_};
  credit_ = std::min<std::size_t>(credit, stream_window_bytes);
}

bool linked_stream::output(exec_part::kind from, const std::string& text) {
  std::unique_lock lock{mutex_};
  if (text.size() > room_) return false;
  room_ -= text.size();
  const bool is_error = from == exec_part::kind::error;
  auto& into = is_error ? error_ : output_;
  if ((is_error ? output_ : error_).empty()) error_first_ = is_error;
  into += text;
  settle(std::move(lock));
  return true;
}

bool linked_stream::input_taken(std::uint32_t bytes, bool refused) {
  std::unique_lock lock{mutex_};
  if (bytes > under_way_) return false;
  under_way_ -= bytes;
  credit_ += bytes;
  refused_ = refused_ || refused;
  settle(std::move(lock));
  return true;
}

void linked_stream::end(int code, std::string reason) {
  std::unique_lock lock{mutex_};
  if (!ended_) ended_ = {code, std::move(reason)};
  settle(std::move(lock));
}

bool linked_stream::has_commands() const {
  const std::lock_guard lock{mutex_};
  return wants_session();
}

linked_stream::commands linked_stream::take_commands() {
  const std::lock_guard lock{mutex_};
  called_ = false;
  if (ended_) return {};
  if (closed_) {
    ended_ = ending{};
    return {.close = true};
  }
  commands made;
  if (!refused_) {
    made.input =
        unsent_.substr(sent_, std::min({credit_, unsent_.size() - sent_, stream_piece_bytes}));
    sent_ += made.input.size();
    under_way_ += made.input.size();
    credit_ -= made.input.size();
  }
  if (end_wanted_ && is_all_sent()) made.end_input = !std::exchange(end_sent_, true);
  made.size = std::exchange(size_, {});
  if (owed_ >= stream_window_bytes / 2) {
    made.credit = static_cast<std::uint32_t>(std::exchange(owed_, 0));
    room_ += made.credit;
  }
  return made;
}

// -- under the lock -------------------------------------------------------------------------------

// Credit is returned once half of the window was read, so small parts cost no messages.
bool linked_stream::wants_session() const {
  if (ended_) return false;
  if (closed_ || size_ || owed_ >= stream_window_bytes / 2) return true;
  if (!refused_ && !is_all_sent()) return credit_ > 0;
  return end_wanted_ && !end_sent_;
}

std::optional<exec_part> linked_stream::next_part() {
  if (output_.empty() && error_.empty()) {
    if (!ended_) return std::nullopt;
    return exec_part{exec_part::kind::ended, ended_->reason, ended_->code};
  }
  const bool is_error = output_.empty() || (error_first_ && !error_.empty());
  auto& from = is_error ? error_ : output_;
  exec_part part{is_error ? exec_part::kind::error : exec_part::kind::output,
                 from.substr(0, stream_piece_bytes)};
  from.erase(0, part.bytes.size());
  error_first_ = !is_error;
  owed_ += part.bytes.size();
  return part;
}

// Runs callbacks whose results are known, and notifies the session if there are orders for it.
void linked_stream::settle(std::unique_lock<std::mutex> lock) {
  std::optional<exec_part> part;
  if (reader_) part = next_part();
  const auto reader = part ? std::exchange(reader_, {}) : nullptr;
  const bool refused = ended_ || refused_;
  if (refused) {
    unsent_.clear();
    sent_ = 0;
  }
  const bool taken = is_all_sent() && under_way_ == 0;
  const auto writer = refused || taken ? std::exchange(writer_, {}) : nullptr;
  const bool calls = !called_ && wants_session();
  called_ = called_ || calls;
  lock.unlock();
  // If the session's mailbox is full, session_streams::look finds the orders.
  if (calls) session_.tell(stream_work{ask_});
  if (reader) reader(std::move(*part));
  if (writer) writer(!refused);
}

}  // namespace troupe::actors
