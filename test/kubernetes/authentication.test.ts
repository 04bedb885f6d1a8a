import { createPublicKey, type JsonWebKey, verify } from "node:crypto";
import { expect, test } from "vitest";
import { describeApi } from "./api.ts";

interface Review {
  status: {
    authenticated?: boolean;
    user?: { username: string; groups: string[] };
    error?: string;
  };
}

describeApi("authentication", (api) => {
  const robot = async () => {
    const namespace = await api.namespace();
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await api.ok("POST", path, { metadata: { name: "robot" } });
    return { namespace, path: `${path}/robot` };
  };
  const tokenOf = async (path: string, spec: object = {}) =>
    (
      await api.ok<{ status: { token: string; expirationTimestamp: string } }>(
        "POST",
        `${path}/token`,
        { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec },
      )
    ).status;
  const review = (token: string, audiences?: string[]) =>
    api.ok<Review>("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: { token, ...(audiences && { audiences }) },
    });

  test.each([
    ["no token", ""],
    ["a wrong token", "nonsense"],
  ])("refuses %s", async (_what, token) => {
    const { status, body } = await api.request("GET", "/api/v1/namespaces", undefined, { token });
    expect(status).toBe(401);
    expect(body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "Unauthorized",
      reason: "Unauthorized",
      code: 401,
    });
  });

  test("refuses everything to strangers, discovery and watches too", async () => {
    for (const path of ["/api", "/apis", "/openapi/v3", "/version", "/api/v1/pods?watch=true"])
      expect((await api.request("GET", path, undefined, { token: "x" })).status).toBe(401);
  });

  test("knows whose a token is", async () => {
    expect(await review(api.tokens.admin)).toMatchObject({
      kind: "TokenReview",
      status: { authenticated: true, user: { username: "admin" } },
    });
  });

  test("knows that a token is nobody's", async () => {
    const { status } = await review("nonsense");
    expect(status.authenticated ?? false).toBe(false);
    expect(status.user?.username ?? "").toBe("");
  });

  test("gives a service account a token, by which it is known", async () => {
    const { namespace, path } = await robot();
    const { token } = await tokenOf(path);
    expect(token.split(".")).toHaveLength(3);
    const { status } = await review(token);
    expect(status).toMatchObject({
      authenticated: true,
      user: { username: `system:serviceaccount:${namespace}:robot` },
    });
    expect(status.user?.groups).toEqual(
      expect.arrayContaining(["system:serviceaccounts", `system:serviceaccounts:${namespace}`]),
    );
  });

  test("lets a service account in by its token", async () => {
    const { path } = await robot();
    const { token } = await tokenOf(path);
    const { status } = await api.request("GET", "/api", undefined, { token });
    expect(status).toBe(200);
  });

  test("gives a token for as long and for whom it is asked", async () => {
    const { path } = await robot();
    const { token, expirationTimestamp } = await tokenOf(path, {
      audiences: ["api://AzureADTokenExchange"],
      expirationSeconds: 1200,
    });
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as {
      aud: string[];
      exp: number;
      iat: number;
      sub: string;
    };
    expect(claims.aud).toEqual(["api://AzureADTokenExchange"]);
    expect(claims.exp - claims.iat).toBe(1200);
    expect(claims.sub).toMatch(/^system:serviceaccount:.*:robot$/);
    expect(Date.parse(expirationTimestamp)).toBe(claims.exp * 1000);
  });

  test("does not take a token that is for somebody else", async () => {
    const { path } = await robot();
    const { token } = await tokenOf(path, { audiences: ["elsewhere"] });
    expect((await api.request("GET", "/api", undefined, { token })).status).toBe(401);
    expect((await review(token)).status.authenticated ?? false).toBe(false);
    expect((await review(token, ["elsewhere"])).status.authenticated).toBe(true);
  });

  test("gives no token to a service account that is not there", async () => {
    const namespace = await api.namespace();
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/none/token`;
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    expect(await api.refused("POST", path, body)).toMatchObject({ code: 404, reason: "NotFound" });
  });

  test("does not take the token of a service account that is gone", async () => {
    const { path } = await robot();
    const { token } = await tokenOf(path);
    await api.ok("DELETE", path);
    expect((await review(token)).status.authenticated ?? false).toBe(false);
  });

  test("gives no token of less than ten minutes", async () => {
    const { path } = await robot();
    const body = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: 60 },
    };
    expect(await api.refused("POST", `${path}/token`, body)).toMatchObject({ code: 422 });
  });

  test("shows the keys by which others know the tokens of service accounts", async () => {
    const { path } = await robot();
    const { token } = await tokenOf(path, { audiences: ["api://AzureADTokenExchange"] });
    const [header = "", claims = "", signature = ""] = token.split(".");
    const { kid } = JSON.parse(Buffer.from(header, "base64url").toString()) as { kid: string };
    const { keys } = await api.ok<{ keys: JsonWebKey[] }>("GET", "/openid/v1/jwks", undefined, {
      accept: "application/jwk-set+json",
    });
    const jwk = keys.find((each) => each.kid === kid) ?? {};
    const key = createPublicKey({ key: jwk, format: "jwk" });
    const signed = Buffer.from(`${header}.${claims}`);
    expect(verify("sha256", signed, key, Buffer.from(signature, "base64url"))).toBe(true);

    const configuration = "/.well-known/openid-configuration";
    const found = await api.ok<{ issuer: string; jwks_uri: string }>("GET", configuration);
    const { iss } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { iss: string };
    expect(found.issuer).toBe(iss);
    expect(found.jwks_uri).toMatch(/^https:.*\/openid\/v1\/jwks$/);
  });

  test("tells a user who they are", async () => {
    const me = await api.ok<{ status: { userInfo: { username: string } } }>(
      "POST",
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
    );
    expect(me.status.userInfo.username).toBe("admin");
  });
});
