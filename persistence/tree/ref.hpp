// A reference-counted pointer with the count in the object: half the size of std::shared_ptr and no
// second allocation, for a tree of many small shared nodes.
//
// T derives from counted<T> and has `static void destroy(const T*) noexcept`, called once on the
// thread that releases the last reference.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace troupe::persistence {

template <class T>
class counted {
 public:
  counted() noexcept = default;
  // A copy is a new object, without references.
  counted(const counted&) noexcept {}
  counted& operator=(const counted&) = delete;

  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      T::destroy(static_cast<const T*>(this));
  }

 private:
  mutable std::atomic<std::uint32_t> count_{0};
};

template <class T>
class ref {
 public:
  ref() noexcept = default;
  explicit ref(T* to) noexcept : to_{to} {
    if (to_ != nullptr) to_->retain();
  }
  ref(const ref& other) noexcept : ref{other.to_} {}
  ref(ref&& other) noexcept : to_{std::exchange(other.to_, nullptr)} {}
  ~ref() {
    if (to_ != nullptr) to_->release();
  }
  ref& operator=(ref other) noexcept {
    std::swap(to_, other.to_);
    return *this;
  }

  T* get() const noexcept { return to_; }
  T& operator*() const noexcept { return *to_; }
  T* operator->() const noexcept { return to_; }
  explicit operator bool() const noexcept { return to_ != nullptr; }

 private:
  T* to_ = nullptr;
};

}  // namespace troupe::persistence
