// Encodes a list of objects part by part in the client's form, with only the unsent parts in
// memory. Belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "api/schema/meta_v1.pb.h"
#include "server/rest/answers/answers.hpp"

namespace troupe::server {

std::string_view meta_version(const response_format& form);
api::meta::v1::PartialObjectMetadata metadata_of(const api::object& object);

class list_body {
 public:
  list_body(const response_format& form, list_page page, included rows);
  ~list_body();

  // Adds items until `cost` is reached; returns false after the last one. Cached texts cost
  // their bytes, texts made for this list four times that. Added objects are then owned by `to`
  // alone.
  bool add(body& to, std::size_t cost);

  // The encoding of a list in one form; list_body.cpp has all of them.
  class format;

 private:
  const response_format form_;
  list_page page_;
  std::unique_ptr<format> format_;
  std::size_t next_ = 0;  // index of the next item
  bool begun_ = false;    // the head has been written
};

}  // namespace troupe::server
