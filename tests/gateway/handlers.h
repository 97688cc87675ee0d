// Handlers and tools for tests of the server.
#pragma once
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

class Calls final : public Handler {
 public:
  using Function = std::function<void(const Request&, const Respond&)>;
  explicit Calls(Function function) : function_(std::move(function)) {}
  void handle(const Request& request, Respond respond) override { function_(request, respond); }

 private:
  Function function_;
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
    changed_.wait(lock, [&] { return !waiting_.empty(); });
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
    changed_.wait(lock, [&] { return raised_; });
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
  while (!holds()) std::this_thread::yield();
}

}  // namespace sluice::gateway
