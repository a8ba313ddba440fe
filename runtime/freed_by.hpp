// Deletes an object of a C library by its function: std::unique_ptr<BIO, freed_by<BIO_free_all>>.
// For use in any room.
#pragma once

namespace troupe::runtime {

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};

}  // namespace troupe::runtime
