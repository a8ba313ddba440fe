// A list of objects as bytes, made part by part: in the form that the client wants, with no more of
// it in memory than the parts that have not gone out. Belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "api/schema/meta_v1.pb.h"
#include "server/rest/answers/answers.hpp"
#include "server/rest/answers/pretty.hpp"

namespace troupe::server {

std::string_view meta_version(const wanted_form& form);
api::meta::v1::PartialObjectMetadata metadata_of(const api::object& object);

class list_body {
 public:
  list_body(const wanted_form& form, list_page page, included rows);
  ~list_body();

  // Adds some of what is left, until it has cost at least so much; false: that was all. Texts that
  // objects keep cost their bytes, others, which are made again for each list, four times that.
  // Objects that have been added are kept by `to` alone.
  bool add(body& to, std::size_t cost);

  // How a list is written in one form; list_body.cpp has them all.
  class format;

 private:
  const wanted_form form_;
  list_page page_;
  std::unique_ptr<format> format_;
  std::unique_ptr<pretty_printer> pretty_;
  std::size_t next_ = 0;  // of the items
  bool begun_ = false;    // the head is written
};

}  // namespace troupe::server
