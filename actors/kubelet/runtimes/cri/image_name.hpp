// Names of images (github.com/distribution/reference, as kubernetes: pkg/util/parsers). Pure.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace troupe::actors {

// "nginx" becomes "nginx:latest"; a name with a tag or a digest stays. The error is upstream's
// message of the reason InvalidImageName.
tl::expected<std::string, std::string> complete_image(const std::string& image);

}  // namespace troupe::actors
