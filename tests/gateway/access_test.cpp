// Who may do what, decided from the head of a request.
#include "gateway/access.h"

#include <gtest/gtest.h>

#include <string>

#include "gateway/fake_identity.h"
#include "gateway/router_fixture.h"

namespace sluice::gateway {
namespace {

class AccessTest : public testing::Test {
 protected:
  AccessTest() {
    for (const Role role : {Role::caller, Role::deployer, Role::admin}) {
      identity_.all_keys.push_back(
          {.name = std::string(name_of(role)), .principal = {.tenant = "acme", .role = role}, .made = {}, .hash = {}});
    }
  }
  // The status of the refusal; 200: let in.
  unsigned on_loopback(std::string_view key, Method method, std::string_view path) const {
    return status_of({.method = method, .path = path, .key = key, .host = "127.0.0.1:8000", .local = true});
  }
  unsigned elsewhere(std::string_view key, Method method, std::string_view path) const {
    return status_of({.method = method, .path = path, .key = key, .host = "my.host"});
  }
  unsigned status_of(const Knock& knock) const {
    const Admission admission = Access(identity_, open_metrics_).admit(knock);
    const auto* refusal = std::get_if<Reply>(&admission);
    return refusal != nullptr ? refusal->status : 200;
  }

  FakeIdentity identity_;
  bool open_metrics_ = false;
};

TEST_F(AccessTest, LetsGuestsOnLoopbackCallAndLook) {
  for (const char* path : {"/v2/health/ready", "/metrics", "/v1/applications", "/v1/requests/1", "/v1/status", "/v2"}) {
    EXPECT_EQ(on_loopback("", Method::get, path), 200u) << path;
  }
  EXPECT_EQ(on_loopback("", Method::post, "/v2/models/m/infer"), 200u);
}

TEST_F(AccessTest, WantsAKeyForWhatChangesTheServer) {
  EXPECT_EQ(on_loopback("", Method::post, "/v1/applications"), 401u);
  EXPECT_EQ(on_loopback("", Method::remove, "/v1/applications/a"), 401u);
  EXPECT_EQ(on_loopback("", Method::remove, "/v1/applications/a/"), 401u);
  EXPECT_EQ(on_loopback("", Method::remove, "/v1/requests/00"), 401u);
  EXPECT_EQ(on_loopback("", Method::get, "/v1/keys"), 401u);
  EXPECT_EQ(on_loopback("", Method::post, "/v1/tenants/acme"), 401u);
  EXPECT_EQ(on_loopback("", Method::get, "/v1/"), 200u);
}

TEST_F(AccessTest, GivesEachRoleWhatItIsFor) {
  EXPECT_EQ(elsewhere("caller", Method::post, "/v2/models/m/infer"), 200u);
  EXPECT_EQ(elsewhere("caller", Method::remove, "/v1/requests/00"), 200u);
  EXPECT_EQ(elsewhere("caller", Method::post, "/v1/applications"), 403u);
  EXPECT_EQ(elsewhere("deployer", Method::post, "/v1/applications"), 200u);
  EXPECT_EQ(elsewhere("deployer", Method::remove, "/v1/applications/a"), 200u);
  EXPECT_EQ(elsewhere("deployer", Method::get, "/v1/keys"), 403u);
  EXPECT_EQ(elsewhere("admin", Method::get, "/v1/keys"), 200u);
  EXPECT_EQ(elsewhere("admin", Method::post, "/v1/tenants"), 200u);
}

TEST_F(AccessTest, ServesNobodyWithoutAKeyWhereOthersCanReachIt) {
  EXPECT_EQ(elsewhere("", Method::get, "/v2"), 401u);
  EXPECT_EQ(elsewhere("", Method::post, "/v2/models/m/infer"), 401u);
  EXPECT_EQ(elsewhere("", Method::get, "/metrics"), 401u);
  EXPECT_EQ(elsewhere("wrong", Method::get, "/v2"), 401u);
  EXPECT_EQ(elsewhere("", Method::get, "/v2/health/live"), 200u);
  EXPECT_EQ(elsewhere("", Method::get, "/v2/health/ready"), 200u);
  EXPECT_EQ(elsewhere("", Method::post, "/v2/health/ready"), 401u);
}

TEST_F(AccessTest, OpensMetricsOnRequest) {
  open_metrics_ = true;
  EXPECT_EQ(elsewhere("", Method::get, "/metrics"), 200u);
  EXPECT_EQ(elsewhere("", Method::get, "/v1/status"), 401u);
}

// Functions can reach the loopback as well.
TEST_F(AccessTest, IsClosedToGuestsOnceThereAreSeveralTenants) {
  identity_.all_tenants.push_back({.name = "acme", .id = TenantId(1), .quota = {}});
  EXPECT_EQ(on_loopback("", Method::post, "/v2/models/m/infer"), 401u);
  EXPECT_EQ(on_loopback("", Method::get, "/metrics"), 401u);
  EXPECT_EQ(on_loopback("", Method::get, "/v2/health/live"), 200u);
  EXPECT_EQ(on_loopback("caller", Method::post, "/v2/models/m/infer"), 200u);
}

TEST_F(AccessTest, IsClosedToWebPagesOnLoopback) {
  const auto page = [&](std::string_view host, std::string_view origin) {
    return status_of({.path = "/v2", .host = host, .origin = origin, .local = true});
  };
  EXPECT_EQ(page("127.0.0.1:8000", ""), 200u);
  EXPECT_EQ(page("localhost:8000", "http://localhost:8000"), 200u);
  EXPECT_EQ(page("[::1]:8000", ""), 200u);
  EXPECT_EQ(page("evil.example:8000", ""), 403u);
  EXPECT_EQ(page("localhost:8000", "http://evil.example"), 403u);
  EXPECT_EQ(page("localhost:8000", "null"), 403u);
}

TEST_F(AccessTest, SaysWhatIsMissing) {
  const auto text = [&](const Knock& knock) { return std::get<Reply>(Access(identity_, false).admit(knock)).body; };
  EXPECT_EQ(text({.path = "/v2"}),
            R"({"error":"this server needs a key: send a key as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'"})");
  EXPECT_EQ(text({.method = Method::post, .path = "/v1/applications", .key = "caller"}),
            R"({"error":"this needs a key of role deployer; this one is of role caller of tenant 'acme'"})");
}

// --- over HTTP

TEST_F(RouterTest, MakesListsAndRevokesKeys) {
  EXPECT_EQ(post("/v1/keys", R"({"name":"bob","tenant":"acme","role":"deployer"})"),
            R"(200 {"name":"bob","tenant":"acme","role":"deployer","key":"text of bob"})");
  EXPECT_EQ(post("/v1/keys", R"({"name":"eve"})"),
            R"(200 {"name":"eve","tenant":"default","role":"caller","key":"text of eve"})");
  EXPECT_EQ(get("/v1/keys"), R"(200 {"keys":[{"name":"bob","tenant":"acme","role":"deployer","made_ms":5.0},)"
                             R"({"name":"eve","tenant":"default","role":"caller","made_ms":5.0}]})");
  EXPECT_EQ(remove("/v1/keys/bob"), R"(200 {"revoked":"bob"})");
  EXPECT_EQ(remove("/v1/keys/bob"), R"(404 {"error":"there is no key 'bob'"})");
  EXPECT_EQ(post("/v1/keys", R"({"name":"x","role":"king"})"),
            R"(400 {"error":"there is no role 'king': expected caller, deployer or admin"})");
  EXPECT_EQ(post("/v1/keys", R"({"name":7})"), R"(400 {"error":"'name' is no text"})");
  EXPECT_EQ(post("/v1/keys", "[]"), R"(400 {"error":"the body is no JSON object"})");
}

TEST_F(RouterTest, MakesTenantsAndSetsTheirLimits) {
  EXPECT_EQ(post("/v1/tenants", R"({"name":"acme","requests":5,"requests_per_second":0.5,"bytes":1000})"),
            R"(200 {"name":"acme","requests_per_second":0.5,"requests":5,"bytes":1000,)"
            R"("functions":null,"vcpu":null,"vgpu":null})");
  EXPECT_EQ(post("/v1/tenants/acme", R"({"requests":null,"vgpu":2})"),
            R"(200 {"name":"acme","requests_per_second":0.5,"requests":null,"bytes":1000,)"
            R"("functions":null,"vcpu":null,"vgpu":2})");
  EXPECT_EQ(post("/v1/tenants/nobody", "{}"), R"(404 {"error":"there is no tenant 'nobody'"})");
  for (const char* wrong : {"-1", "\"5\"", "1.5", "5000000000", "[]"}) {
    EXPECT_EQ(post("/v1/tenants/acme", R"({"functions":)" + std::string(wrong) + "}"),
              R"(400 {"error":"'functions' is no limit: expected a number, or null for none"})");
  }
  EXPECT_EQ(remove("/v1/tenants/acme"), R"(200 {"removed":"acme"})");
  EXPECT_EQ(get("/v1/tenants").substr(0, 39), R"(200 {"tenants":[{"name":"default","requ)");
}

}  // namespace
}  // namespace sluice::gateway
