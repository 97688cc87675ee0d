// Handlers and tools for tests of the server.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gateway/http_server.h"

namespace sluice::gateway {

inline constexpr auto kPatience = std::chrono::seconds(30);  // only a broken server needs it

class Calls final : public Handler {
 public:
  using Function = std::function<void(const Request&, const Respond&)>;
  using Admit = std::function<Admission(const Knock&)>;
  explicit Calls(Function function, Admit admit = {}) : function_(std::move(function)), admit_(std::move(admit)) {}
  Admission admit(const Knock& knock) override { return admit_ ? admit_(knock) : Admission(Principal{}); }
  void handle(const Request& request, Respond respond) override { function_(request, respond); }

 private:
  Function function_;
  Admit admit_;
};

inline void reply(const Respond& respond, std::string body) {
  respond->respond([body = std::move(body)] { return Reply{.body = body}; });
}

// Says what it was asked.
inline void describe(const Request& request, const Respond& respond) {
  reply(respond, std::string(request.path) + "?" + std::string(request.query) + " " + std::string(request.body));
}

// Exchanges that a test answers later.
class Desk {
 public:
  void put(const Respond& respond) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(respond);
    changed_.notify_all();
  }
  Respond take() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [&] { return !waiting_.empty(); })) {
      ADD_FAILURE() << "nobody asked";
      return nullptr;
    }
    const Respond first = waiting_.front();
    waiting_.erase(waiting_.begin());
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Respond> waiting_;
};

class Flag {
 public:
  void raise() {
    const std::lock_guard lock(mutex_);
    raised_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return raised_; }));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool raised_ = false;
};

inline std::unique_ptr<HttpServer> serve(Handler& handler, ServerOptions options = {}) {
  if (options.listen == ServerOptions().listen) options.listen = "127.0.0.1:0";
  return HttpServer::start(std::move(options), handler).value();
}

inline void wait_until(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    std::this_thread::yield();
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "it did not come about";
      return;
    }
  }
}

}  // namespace sluice::gateway
