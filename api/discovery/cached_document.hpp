// A cached document built from the kinds; rebuilt when they change (kind_table::revision).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "api/scheme.hpp"

namespace troupe::api {

// Thread safe. One thread builds a new document and others that need it wait; holders of the old
// document keep it.
template <class T>
class cached_document {
 public:
  using maker = std::function<T(const kind_table& kinds)>;

  explicit cached_document(maker make) : make_(std::move(make)) {}

  std::shared_ptr<const T> get() {
    const std::lock_guard lock(mutex_);
    const auto kinds = scheme::instance().kinds();
    if (kept_ == nullptr || revision_ != kinds->revision()) {
      kept_ = std::make_shared<const T>(make_(*kinds));
      revision_ = kinds->revision();
    }
    return kept_;
  }

 private:
  const maker make_;
  std::mutex mutex_;
  std::shared_ptr<const T> kept_;
  std::uint64_t revision_ = 0;
};

}  // namespace troupe::api
