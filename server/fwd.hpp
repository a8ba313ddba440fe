#pragma once

#include <memory>

namespace troupe::server {

class authenticator;
class authorizer;
class body;
class handler;
class header_block;
class health_checks;
class http_server;
class query_string;
class responder;
class stream;
struct connection_info;
struct request;
struct response;
struct user_info;

using request_ptr = std::shared_ptr<request>;
using user_ptr = std::shared_ptr<const user_info>;

}  // namespace troupe::server
