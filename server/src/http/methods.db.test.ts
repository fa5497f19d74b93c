import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { rawRequest } from "../../test/raw-request.ts";

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);

const paths: readonly (readonly [path: string, allow: readonly string[]])[] = [
  ["/api/public/agents", ["POST", "GET", "HEAD"]],
  [`/api/public/agents/${agent.id}`, ["GET", "PATCH", "DELETE", "HEAD"]],
  [`/api/public/agents/${agent.id}/invoke`, ["POST"]],
  [`/api/public/agents/${agent.id}/pause`, ["POST"]],
  [`/api/public/agents/${agent.id}/resume`, ["POST"]],
  [`/api/public/agents/${agent.id}/restore`, ["POST"]],
  [`/api/public/agents/${agent.id}/duplicate`, ["POST"]],
  [`/api/public/agents/${agent.id}/versions`, ["GET", "HEAD"]],
  [`/api/public/agents/${agent.id}/versions/1`, ["GET", "HEAD"]],
  [`/api/public/agents/${agent.id}/versions/1/compare`, ["GET", "HEAD"]],
  [`/api/public/agents/${agent.id}/versions/1/restore`, ["POST"]],
  [`/api/public/agents/${agent.id}/export`, ["GET", "HEAD"]],
  ["/api/public/agents/export", ["GET", "HEAD"]],
  ["/api/public/agents/import", ["POST"]],
  [`/api/public/agents/${agent.id}/token/rotate`, ["POST"]],
  [`/api/public/agents/${agent.id}/token`, ["GET", "DELETE"]],
  [`/api/public/agents/${agent.id}/triggers`, ["POST", "GET", "HEAD"]],
  [`/api/public/agents/${agent.id}/triggers/${trigger.id}`, ["GET", "PATCH", "DELETE", "HEAD"]],
  [`/api/public/agents/${agent.id}/triggers/${trigger.id}/rotate`, ["POST"]],
  [`/api/public/agents/${agent.id}/triggers/${trigger.id}/test`, ["POST"]],
  [`/api/public/agents/${agent.id}/triggers/${trigger.id}/token`, ["GET"]],
  [`/api/public/agents/${agent.id}/triggers/${trigger.id}/secret`, ["POST", "GET"]],
  ["/api/public/subscriptions/sub_1/secret", ["GET"]],
  [`/api/public/agents/${agent.id}/runs`, ["GET", "HEAD"]],
  [`/api/public/triggers/${trigger.token}`, ["POST", "OPTIONS"]],
  ["/api/public/runs", ["GET", "HEAD"]],
  ["/api/public/runs/run_1", ["GET", "DELETE", "HEAD"]],
  ["/api/public/runs/run_1/retry", ["POST"]],
  ["/api/public/runs/cancel", ["POST"]],
  ["/api/public/runs/delete", ["POST"]],
  ["/api/public/runs/run_1/cancel", ["POST"]],
  ["/api/public/runs/run_1/events", ["GET", "HEAD"]],
  ["/api/public/events", ["GET", "HEAD"]],
  ["/api/public/providers", ["POST", "GET", "HEAD"]],
  ["/api/public/providers/prv_1", ["GET", "PATCH", "DELETE", "HEAD"]],
  ["/api/public/keys", ["POST", "GET", "HEAD"]],
  ["/api/public/keys/key_1", ["GET", "PATCH", "DELETE", "HEAD"]],
  ["/api/public/keys/key_1/rotate", ["POST"]],
  ["/api/public/plan", ["GET", "HEAD"]],
  ["/api/public/limits", ["GET", "HEAD"]],
  ["/api/public/limits/agent/agt_1", ["GET", "PUT", "DELETE", "HEAD"]],
  ["/api/public/plans", ["POST", "GET", "HEAD"]],
  ["/api/public/plans/pln_1", ["GET", "PATCH", "DELETE", "HEAD"]],
  ["/api/public/workspace-plans", ["GET", "HEAD"]],
  ["/api/public/workspace-plans/wsp_1", ["PATCH"]],
  ["/api/public/audit", ["GET", "HEAD"]],
  ["/api/public/workspaces", ["POST", "GET", "HEAD"]],
  ["/api/public/workspaces/wsp_1", ["GET", "PATCH", "HEAD"]],
  ["/api/public/members", ["GET", "HEAD"]],
  ["/api/public/members/usr_1", ["PATCH", "DELETE"]],
  ["/api/public/members/usr_1/reset-link", ["POST"]],
  ["/api/public/invitations", ["POST", "GET", "HEAD"]],
  ["/api/public/invitations/inv_1", ["DELETE"]],
  ["/api/public/invitations/accept", ["POST"]],
  ["/api/public/invitations/check", ["POST"]],
  ["/api/public/sign-in", ["POST"]],
  ["/api/public/sign-out", ["POST"]],
  ["/api/public/setup", ["POST"]],
  ["/api/public/setup/check", ["POST"]],
  ["/api/public/me", ["GET", "PATCH", "HEAD"]],
  ["/api/public/sessions", ["GET", "DELETE", "HEAD"]],
  ["/api/public/sessions/ses_1", ["DELETE"]],
  ["/api/public/password", ["POST"]],
  ["/api/public/password/reset", ["POST"]],
  ["/api/public/password/reset/check", ["POST"]],
  ["/api/public/audit/export", ["GET", "HEAD"]],
  ["/openapi.json", ["GET", "HEAD"]],
  ["/docs", ["GET", "HEAD"]],
  ["/docs/agents", ["GET", "HEAD"]],
  ["/", ["GET", "HEAD"]],
  ["/w/wsp_1/runs", ["GET", "HEAD"]],
  ["/sign-in", ["GET", "HEAD"]],
  ["/assets/main.js", ["GET", "HEAD"]],
  ["/theme.js", ["GET", "HEAD"]],
  ["/favicon.svg", ["GET", "HEAD"]],
  ["/setup", ["GET", "HEAD"]],
  ["/invite", ["GET", "HEAD"]],
  ["/reset", ["GET", "HEAD"]],
  ["/healthz", ["GET", "HEAD"]],
  ["/readyz", ["GET", "HEAD"]],
];
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

describe.each(paths)("%s", (path, allow) => {
  test.each(methods.filter((method) => !allow.includes(method) && method !== "HEAD"))(
    "rejects %s with 405 and lists the allowed methods",
    async (method) => {
      const answer = await beckon.call(beckon.url + path, { method, credential: null });
      expectError(answer, 405, "method_not_allowed");
      expect(answer.headers.get("allow")?.split(", ").sort()).toEqual([...allow].sort());
    },
  );
});

test.each(paths.filter(([, allow]) => !allow.includes("HEAD")).map(([path]) => path))(
  "%s rejects HEAD with 405 and no body",
  async (path) => {
    const { status, body } = await beckon.call(beckon.url + path, {
      method: "HEAD",
      credential: null,
    });
    expect([status, body]).toEqual([405, undefined]);
  },
);

test("HEAD is answered like GET, without a body", async () => {
  const { status, body, headers } = await beckon.call(`/agents/${agent.id}`, { method: "HEAD" });
  expect([status, body, headers.get("etag")]).toEqual([200, undefined, '"1"']);
});

test("HEAD at a route that reveals a secret is rejected, and writes no reveal to the audit log", async () => {
  const { id } = await beckon.createAgent();
  const { status, headers } = await beckon.call(`/agents/${id}/token`, { method: "HEAD" });
  expect([status, headers.get("allow")]).toEqual([405, "GET, DELETE"]);
  const reveals = async () =>
    (await beckon.call(`/audit?action=agent.token.reveal&target=${id}`)).body.data;
  expect(await reveals()).toEqual([]);
  await beckon.call(`/agents/${id}/token`);
  expect(await reveals()).toHaveLength(1);
});

test("an uncommon method is rejected like any other", async () => {
  const answer = await rawRequest(`${beckon.url}/api/public/agents`, {
    method: "PROPFIND",
    headers: [],
  });
  expectError(answer, 405, "method_not_allowed");
});

test("a method override header is ignored", async () => {
  const answer = await beckon.call(`/agents/${agent.id}`, {
    method: "PUT",
    headers: { "x-http-method-override": "DELETE" },
    body: {},
  });
  expectError(answer, 405, "method_not_allowed");
});

test("opening a trigger's URL in a browser starts no run", async () => {
  const owner = await beckon.createAgent();
  const { url } = await beckon.createTrigger(owner.id, { prompt_prefix: "Prefix" });
  for (const method of ["GET", "HEAD", "OPTIONS", "PUT"])
    await beckon.call(url, { method, credential: null });
  expect((await beckon.call(`/agents/${owner.id}/runs`)).body.data).toEqual([]);
});

test.each([
  "/api",
  "/api/public",
  "/api/public/",
  "/api/public/agents/",
  "/api/public/agent",
  "/API/public/agents",
  "/api/public/v1/agents",
  `/api/public/agents/${agent.id}/invoke/again`,
  `/api/public/runs/run_1/nothing`,
  "/api/public/triggers",
  "/api/public/triggers/",
  "/api/public/triggers/a/b",
  "/healthz/x",
  "/assets",
  "/assets/a/b.js",
  "/setup/x",
  "/%00",
  "/%ff",
])("%s is not found, with any method", async (path) => {
  for (const method of ["GET", "POST", "OPTIONS"]) {
    expectError(
      await beckon.call(beckon.url + path, { method, credential: null }),
      404,
      "not_found",
    );
  }
});
