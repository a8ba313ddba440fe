// The callbacks from nghttp2 to http2.
#pragma once

#include <nghttp2/nghttp2.h>

namespace troupe::server {

const nghttp2_session_callbacks* http2_session_callbacks();
const nghttp2_option* http2_session_options();
// The data source of a response's body; its pointer is the http2_flow.
nghttp2_data_provider http2_body_of(struct http2_flow& flow);

}  // namespace troupe::server
