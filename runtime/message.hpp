// Messages between actors: immutable values of any type, created once and shared by all receivers.
//
// A message type is a plain struct named with a term of the field (`bind`, `committed`). It needs
// no registration: within a process it is passed as a shared pointer, never copied or encoded.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace troupe::runtime {

// The cause of a message: the client request (0: none, a timer or start-up) and the
// revision of the store that led to it. An actor's messages inherit the cause of the
// message that it is handling, so that a chain of causes leads from a client's request to
// its last effect.
struct cause {
  std::uint64_t request = 0;
  std::uint64_t revision = 0;
};

// The descriptor of a message type, at a fixed address for the life of the process.
class message_type {
 public:
  // The type's name without its namespace, as the console shows it.
  std::string_view name() const noexcept { return name_; }

  template <class T>
  static const message_type& of() {
    static const message_type type{pretty_name<T>()};
    return type;
  }

 private:
  explicit message_type(std::string_view pretty);

  template <class T>
  static constexpr std::string_view pretty_name() {
    return __PRETTY_FUNCTION__;
  }

  std::string_view name_;
};

class message {
 public:
  message() = default;

  // The only allocation of a message, however many actors receive it.
  template <class T>
  static message of(T value) {
    return message{&message_type::of<T>(), std::make_shared<const T>(std::move(value))};
  }

  explicit operator bool() const noexcept { return value_ != nullptr; }
  const message_type& type() const noexcept { return *type_; }

  // Null if the message is of another type.
  template <class T>
  const T* get_if() const noexcept {
    return type_ == &message_type::of<T>() ? static_cast<const T*>(value_.get()) : nullptr;
  }

  // For dispatch, which has already compared the type.
  const void* data() const noexcept { return value_.get(); }

 private:
  message(const message_type* type, std::shared_ptr<const void> value)
      : type_{type}, value_{std::move(value)} {}

  const message_type* type_ = nullptr;
  std::shared_ptr<const void> value_;
};

}  // namespace troupe::runtime
