// A platform that only pretends: answers as it is told, at once or when the test says so. Any thread.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/a_model.h"
#include "live/service.h"

namespace sluice::gateway {

class FakeService final : public live::Service {
 public:
  using OnCall = std::function<void(const live::Call&, RequestId, live::OnAnswer)>;

  FakeService() : arena_(an_arena(64 << 20)), snapshot_(std::make_shared<live::Snapshot>()) {}

  // Every call is answered at once with its own inputs as outputs, until told otherwise.
  static void echo(const live::Call& call, RequestId id, const live::OnAnswer& answer) {
    live::Answer given;
    given.request = id;
    given.outputs = *call.inputs;
    given.latency = Duration::ms(3);
    given.slack = Duration::ms(2);
    answer(std::move(given));
  }

  void when_called(OnCall on_call) {
    const std::lock_guard lock(mutex_);
    on_call_ = std::move(on_call);
  }
  // Calls wait for answer_next() from now on.
  void hold() {
    when_called([this](const live::Call& call, RequestId id, live::OnAnswer answer) {
      const std::lock_guard lock(mutex_);
      held_.push_back([call, id, answer = std::move(answer)] { echo(call, id, answer); });
    });
  }
  // False: none waits.
  bool answer_next() {
    std::function<void()> next;
    {
      const std::lock_guard lock(mutex_);
      if (held_.empty()) return false;
      next = std::move(held_.front());
      held_.pop_front();
    }
    next();
    return true;
  }
  [[nodiscard]] std::size_t held() const {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }
  void drop_held() {
    const std::lock_guard lock(mutex_);
    held_.clear();
  }
  void set(live::Snapshot snapshot) {
    const std::lock_guard lock(mutex_);
    snapshot_ = std::make_shared<const live::Snapshot>(std::move(snapshot));
  }
  [[nodiscard]] std::vector<RequestId> cancelled() const {
    const std::lock_guard lock(mutex_);
    return cancelled_;
  }

  // What the test prepares.
  std::function<Result<RequestId>(const live::Call&)> on_later = [](const live::Call&) { return RequestId(0xAB); };
  std::function<Result<live::Deployed>(const live::Deployment&)> on_deploy;
  std::function<Status(const std::string&)> on_remove;
  std::optional<live::Answer> over;  // what enter() says
  std::uint32_t entered = 0;         // rows of the last request
  std::string removed_from;          // the tenant of the last removal
  std::vector<live::RequestRecord> records;
  std::shared_ptr<const data::Tensors> outputs;
  mutable live::RequestQuery asked;

  std::shared_ptr<data::Arena> arena(const std::string& = "default") override { return arena_; }
  std::optional<live::Answer> enter(live::Call&, std::uint32_t rows) override {
    entered = rows;
    return over;
  }
  RequestId call(live::Call call, live::OnAnswer answer) override {
    OnCall on_call;
    RequestId id;
    {
      const std::lock_guard lock(mutex_);
      id = RequestId(++last_);
      on_call = on_call_;
    }
    on_call ? on_call(call, id, std::move(answer)) : echo(call, id, answer);
    return id;
  }
  RequestId call_rows(live::Call call, std::vector<live::SharedInputs> rows, live::OnRow answer) override {
    const std::size_t count = rows.size();
    RequestId first;
    for (std::size_t row = 0; row < count; ++row) {
      call.inputs = std::move(rows[row]);
      const RequestId id = this->call(call, [answer, row](live::Answer given) { answer(row, std::move(given)); });
      if (row == 0) first = id;
    }
    return first;
  }
  void call_later(live::Call call, std::function<void(Result<RequestId>)> accepted) override {
    accepted(on_later(call));
  }
  void cancel(const Principal&, RequestId request) override {
    const std::lock_guard lock(mutex_);
    cancelled_.push_back(request);
  }
  void deploy(live::Deployment deployment, live::OnDeployed done) override { done(on_deploy(deployment)); }
  void change_version(Principal principal, live::VersionChange change, live::OnDeployed done) override {
    (void)principal;
    changes.push_back(change);
    done(live::Deployed{.application = change.application, .version = change.version.value_or(1)});
  }
  std::vector<live::VersionChange> changes;
  void remove(Principal principal, std::string application, std::function<void(Status)> done) override {
    removed_from = principal.tenant;
    done(on_remove(application));
  }
  std::shared_ptr<const live::Snapshot> snapshot() const override {
    const std::lock_guard lock(mutex_);
    return snapshot_;
  }
  std::vector<live::RequestRecord> requests(const Principal& principal, live::RequestQuery query) const override {
    if (!principal.sees_everything()) query.tenant = principal.tenant;
    asked = query;
    return records;
  }
  std::optional<live::RequestRecord> find_request(const Principal& principal, RequestId request) const override {
    for (const live::RequestRecord& record : records) {
      if (record.id == request && principal.sees(record.tenant)) return record;
    }
    return std::nullopt;
  }
  std::shared_ptr<const data::Tensors> outputs_of(const Principal&, RequestId) const override { return outputs; }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<data::Arena> arena_;
  std::shared_ptr<const live::Snapshot> snapshot_;
  OnCall on_call_;
  std::deque<std::function<void()>> held_;
  std::vector<RequestId> cancelled_;
  std::uint64_t last_ = 0;
};

}  // namespace sluice::gateway
