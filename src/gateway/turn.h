// Turn: the exchange of one request of a connection. Whichever thread the answer comes from, it is written by the
// connection's own. Internal to the server.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "gateway/exchange.h"

namespace sluice::gateway {

class Connection;

class Turn final : public Exchange, public std::enable_shared_from_this<Turn> {
 public:
  explicit Turn(std::shared_ptr<Connection> connection);
  ~Turn() override;
  void respond(std::function<Reply()> make) override;
  void respond_at_length(std::function<Reply()> make) override;
  void on_disconnect(std::function<void()> gone) override;
  void disconnected();

 private:
  void hand_over(std::function<Reply()> make);

  std::shared_ptr<Connection> connection_;
  std::atomic<bool> answered_ = false;
  std::mutex mutex_;
  bool is_gone_ = false;
  std::function<void()> gone_;
};

}  // namespace sluice::gateway
