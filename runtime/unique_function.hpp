// A function object that need not be copyable: a closure may own a promise or a timer.
//
// Closures of up to 40 bytes are stored inline; larger ones take one allocation. Calling an empty
// one is a programming error (it crashes the process), like a null pointer.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace troupe::runtime {

template <class Signature>
class unique_function;

template <class R, class... Args>
class unique_function<R(Args...)> {
 public:
  unique_function() noexcept = default;
  unique_function(std::nullptr_t) noexcept {}

  template <class F,
            class = std::enable_if_t<!std::is_same_v<std::remove_cvref_t<F>, unique_function> &&
                                     std::is_invocable_r_v<R, std::remove_cvref_t<F>&, Args...>>>
  unique_function(F&& closure) {
    using target = std::remove_cvref_t<F>;
    if constexpr (fits<target>) {
      new (storage_) target(std::forward<F>(closure));
      operations_ = &inside<target>;
    } else {
      new (storage_) target*(new target(std::forward<F>(closure)));
      operations_ = &outside<target>;
    }
  }

  unique_function(unique_function&& other) noexcept { take(other); }
  unique_function& operator=(unique_function&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~unique_function() { reset(); }

  explicit operator bool() const noexcept { return operations_ != nullptr; }

  R operator()(Args... args) const {
    return operations_->call(storage_, std::forward<Args>(args)...);
  }

 private:
  struct operations {
    R (*call)(void* self, Args&&... args);
    void (*move)(void* from, void* to) noexcept;
    void (*destroy)(void* self) noexcept;
  };

  template <class F>
  static constexpr bool fits =
      sizeof(F) <= 40 && alignof(F) <= alignof(void*) && std::is_nothrow_move_constructible_v<F>;

  template <class F>
  static constexpr operations inside = {
      [](void* self, Args&&... args) -> R {
        return (*static_cast<F*>(self))(std::forward<Args>(args)...);
      },
      [](void* from, void* to) noexcept {
        new (to) F(std::move(*static_cast<F*>(from)));
        static_cast<F*>(from)->~F();
      },
      [](void* self) noexcept { static_cast<F*>(self)->~F(); }};

  template <class F>
  static constexpr operations outside = {
      [](void* self, Args&&... args) -> R {
        return (**static_cast<F**>(self))(std::forward<Args>(args)...);
      },
      [](void* from, void* to) noexcept { new (to) F*(*static_cast<F**>(from)); },
      [](void* self) noexcept { delete *static_cast<F**>(self); }};

  void take(unique_function& other) noexcept {
    operations_ = std::exchange(other.operations_, nullptr);
    if (operations_ != nullptr) operations_->move(other.storage_, storage_);
  }
  void reset() noexcept {
    if (operations_ != nullptr) std::exchange(operations_, nullptr)->destroy(storage_);
  }

  const operations* operations_ = nullptr;
  alignas(void*) mutable unsigned char storage_[40];
};

}  // namespace troupe::runtime
