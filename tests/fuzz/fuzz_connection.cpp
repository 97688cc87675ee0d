// Whatever bytes come, in whatever pieces: one connection of the server answers with HTTP or hangs up, hands whole
// bodies to its handler, and holds nothing of them afterwards. The first eight bytes say how the rest is cut into
// pieces.
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/check.h"
#include "gateway/connection.h"
#include "gateway/http_reply.h"
#include "gateway/io_thread.h"

using namespace sluice;
using namespace sluice::gateway;

namespace {

// Reads all of a request, and refuses those with the key "no" by their head.
class Echo final : public Handler {
 public:
  Admission admit(const Knock& knock) override {
    if (knock.key == "no") return error_reply(401, "no");
    return Principal{.tenant = std::string(knock.key), .role = Role::caller};
  }
  void handle(const Request& request, Respond respond) override {
    std::string body(request.path);
    body += request.query;
    body += request.body;
    respond->respond([body] { return Reply{.body = body}; });
  }
};

// Small, so that every limit is met.
ServerOptions small() {
  ServerOptions options;
  options.head_bytes_max = 512;
  options.body_bytes_max = 64u << 10;
  options.bodies_bytes_max = 128u << 10;
  return options;
}

struct World {
  Echo handler;
  std::shared_ptr<ServerShared> shared = std::make_shared<ServerShared>(small(), true, handler, Companion{});
  std::shared_ptr<IoThread> io = std::make_shared<IoThread>(shared, false);
};

// What has come back since the last look; the answer begins like one.
void look(int client, bool& any) {
  char buffer[4096];
  ssize_t bytes = 0;
  while ((bytes = ::recv(client, buffer, sizeof buffer, MSG_DONTWAIT)) > 0) {
    const std::string_view start(buffer, static_cast<std::size_t>(bytes));
    if (!any && start.size() >= 9) CHECK(start.starts_with("HTTP/1.1 "));
    any = true;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static World world;
  constexpr std::size_t kCuts = 8;
  if (size < kCuts) return 0;
  int ends[2];
  CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  auto& context = world.io->context();
  Socket socket(context);
  socket.assign(boost::asio::ip::tcp::v4(), ends[0]);
  world.shared->connections.fetch_add(1);
  auto connection = std::make_shared<Connection>(world.io, std::move(socket), false);
  world.io->add(connection);
  connection->start();
  bool any = false;
  std::size_t at = kCuts;
  for (std::size_t piece = 0; at < size; ++piece) {
    const std::size_t length = std::min<std::size_t>(size - at, 1u + data[piece % kCuts] * 4u);
    if (::send(ends[1], data + at, length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) break;
    at += length;
    context.poll();
    look(ends[1], any);
  }
  ::shutdown(ends[1], SHUT_WR);
  context.poll();
  look(ends[1], any);
  ::close(ends[1]);
  connection->close();
  connection.reset();
  // What is served elsewhere (large_request.h) still holds its body.
  while (world.shared->bodies.used() > 0) {
    context.poll();
    std::this_thread::yield();
  }
  context.poll();
  CHECK(world.shared->connections.load() == 0);
  return 0;
}
