// A reference to an actor. It stays valid when the actor restarts (the identity outlives the state)
// and after it has ended (messages are dropped and requests fail with `request_error::down`).
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "runtime/message.hpp"

namespace troupe::runtime {

// Thread safe; a copy costs one atomic increment.
class actor_ref {
 public:
  actor_ref() noexcept = default;
  actor_ref(const actor_ref& other) noexcept;
  actor_ref(actor_ref&& other) noexcept : cell_{std::exchange(other.cell_, nullptr)} {}
  actor_ref& operator=(actor_ref other) noexcept {
    std::swap(cell_, other.cell_);
    return *this;
  }
  ~actor_ref();

  explicit operator bool() const noexcept { return cell_ != nullptr; }

  // Unique in the process, never reused; 0 for the empty reference.
  std::uint64_t id() const noexcept;

  // Sends from outside of actors (a socket's thread, the commit thread). Never blocks. False: the
  // actor has ended or its mailbox is full (`defaults::mailbox_limit`), and the message is dropped.
  // In an actor use `actor::tell`, which passes on the cause and the sender.
  template <class T>
  bool tell(T value, cause cause = {}) const {
    return send(message::of(std::move(value)), cause);
  }
  bool send(message content, cause cause = {}) const;

  friend bool operator==(const actor_ref& a, const actor_ref& b) noexcept {
    return a.cell_ == b.cell_;
  }

 private:
  friend class access;
  void* cell_ = nullptr;  // a reference-counted cell of the runtime
};

}  // namespace troupe::runtime

template <>
struct std::hash<troupe::runtime::actor_ref> {
  std::size_t operator()(const troupe::runtime::actor_ref& ref) const noexcept {
    return std::hash<std::uint64_t>{}(ref.id());
  }
};
