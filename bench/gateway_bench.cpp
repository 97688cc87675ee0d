// The gateway alone, for http_load: a platform that echoes at once, on a port that is printed. Ends with its input.
#include <cstdio>
#include <cstdlib>

#include "gateway/fake_identity.h"
#include "gateway/fake_service.h"
#include "gateway/http_server.h"
#include "gateway/router.h"

int main(int argc, char** argv) {
  using namespace sluice;
  using namespace sluice::gateway;
  FakeService service;
  FakeIdentity identity;
  live::Snapshot snapshot;
  snapshot.models.push_back(a_model("echo", {port("X", DataType::fp32, {-1})}, {port("X", DataType::fp32, {-1})}));
  service.set(std::move(snapshot));
  const auto router = make_router(service, identity, {});
  const unsigned threads = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  const auto server = HttpServer::start({.listen = "127.0.0.1:0", .threads = threads}, *router);
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message.c_str());
    return 1;
  }
  std::printf("%u\n", static_cast<unsigned>((*server)->port()));
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  (*server)->stop(Duration::s(1));
  return 0;
}
