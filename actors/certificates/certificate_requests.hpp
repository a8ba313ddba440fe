// The controller of CertificateSigningRequests: approves those of authorized kubelets, signs
// approved ones, and deletes outdated ones (kubernetes: csrapproving-, csrsigning- and
// csrcleaner-controller).
//
// One actor for all requests. Its state is the requests of its stream and a timer; both are rebuilt
// after a crash. A write that conflicts or gets no answer is retried with the current request: a
// certificate that was not written was not issued to anybody.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "actors/certificates/certificate_issuer.hpp"
#include "actors/certificates/certificate_request.hpp"
#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors::certificates {

class certificate_requests : public informer {
 public:
  // `issuer` may be null: nothing is signed. The store must outlive the actor.
  certificate_requests(const persistence::store* store, core_actors core,
                       std::shared_ptr<const certificate_issuer> issuer);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  using status = api::certificates::v1::CertificateSigningRequestStatus;

  void on_requests(const watch_events& m);
  void sync(const std::string& name);
  void approve(const api::object_ptr& request);
  void sign(const api::object_ptr& request);
  bool may_ask(const CertificateSigningRequestSpec& spec, std::string_view subresource) const;
  void write(const api::object_ptr& request, status changed);
  void add_condition(const api::object_ptr& request, std::string_view type, std::string_view reason,
                     const std::string& message);
  void recheck();
  void clean();

  const persistence::store* store_;
  const core_actors core_;
  const std::shared_ptr<const certificate_issuer> issuer_;
  std::map<std::string, api::object_ptr> requests_;  // by name
  std::set<std::string> under_way_;                  // names of requests with a write in flight
  bool complete_ = false;                            // the initial state is complete
  runtime::timer cleaning_, again_;
};

}  // namespace troupe::actors::certificates
