import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson, password } from "../../test/people.ts";
import type { Beckon } from "../main.ts";

/** Tests the routes that return what a one-time link is for, without using the link. */

const beckon = await startTestBeckon({ BECKON_TRUST_PROXY: "1" });
const started: Beckon[] = [];
afterAll(() => Promise.all(started.map((each) => each.stop())));
let addresses = 0;
/** A new IP address, because the number of requests with invalid links per address is limited. */
const newAddress = () => ({ "x-forwarded-for": `198.51.100.${++addresses}` });
const post = (path: string, body: unknown, headers = newAddress()) =>
  beckon.call(path, { credential: null, body, headers });

const checks: readonly [path: string, prefix: string][] = [
  ["/setup/check", "bks_"],
  ["/invitations/check", "bki_"],
  ["/password/reset/check", "bkr_"],
];

test("a setup link names its workspace until there is an owner", async () => {
  const another = await beckon.another({ setup: true });
  started.push(another);
  const token = another.setupToken;
  for (let use = 0; use < 2; use++)
    expect((await post("/setup/check", { token })).body.data).toEqual({
      workspace_name: "default",
    });
  await post("/setup", { token, name: "Ada", email: "first@example.com", password });
  expectError(await post("/setup/check", { token }), 401, "unauthorized");
});

test("an invitation names workspace, inviter, role and e-mail, and can be accepted afterwards", async () => {
  const owner = await addPerson(beckon, { role: "owner" });
  const { body } = await owner.call("/invitations", {
    body: { email: "grace@example.com", role: "editor" },
  });
  const { token } = body.data;
  const { body: me } = await owner.call("/me");
  const check = await post("/invitations/check", { token });
  expect(check.body.data).toEqual({
    workspace_id: me.data.workspaces[0].id,
    workspace_name: me.data.workspaces[0].name,
    role: "editor",
    email: "grace@example.com",
    inviter_name: me.data.name,
  });
  expect(check.headers.get("cache-control")).toBe("no-store");
  const accepted = await post("/invitations/accept", { token, name: "Grace", password });
  expect(accepted.status).toBe(200);
  expectError(await post("/invitations/check", { token }), 401, "unauthorized");
});

test("an invitation that a key made names no inviter", async () => {
  const { body } = await beckon.call("/invitations", {
    body: { email: "key@example.com", role: "viewer" },
  });
  const { body: check } = await post("/invitations/check", { token: body.data.token });
  expect(check.data.inviter_name).toBeNull();
});

test("an invitation whose inviter has lost the permission says nothing", async () => {
  const admin = await addPerson(beckon, { role: "admin" });
  const { body } = await admin.call("/invitations", {
    body: { email: "late@example.com", role: "viewer" },
  });
  await beckon.call(`/members/${admin.id}`, { method: "DELETE" });
  expectError(
    await post("/invitations/check", { token: body.data.token }),
    401,
    "unauthorized",
    /invitation/,
  );
});

test("a reset link names its person and leaves the sessions alone", async () => {
  const owner = await addPerson(beckon, { role: "owner" });
  const member = await addPerson(beckon, { role: "viewer" });
  const { body } = await owner.call(`/members/${member.id}/reset-link`, { method: "POST" });
  const { token } = body.data;
  const { body: check } = await post("/password/reset/check", { token });
  const { body: me } = await member.call("/me");
  expect(check.data).toEqual({
    name: "Test",
    email: member.email,
    workspace_id: me.data.workspaces[0].id,
  });
  expect((await member.call("/me")).status).toBe(200);
  await beckon.call(`/members/${member.id}`, { method: "PATCH", body: { role: "editor" } });
  expectError(await post("/password/reset/check", { token }), 401, "unauthorized");
});

test.each(checks)("%s counts an invalid link as a failed attempt", async (path, prefix) => {
  const headers = newAddress();
  const statuses = new Set<number>();
  for (let attempt = 0; attempt < 200 && !statuses.has(429); attempt++)
    statuses.add((await post(path, { token: prefix + "A".repeat(48) }, headers)).status);
  expect([...statuses]).toEqual([401, 429]);
});

test.each(checks)(
  "%s rejects a token of another kind, a missing one and other fields",
  async (path) => {
    expectError(await post(path, { token: "bka_x" }), 401, "unauthorized");
    expectError(await post(path, {}), 400, "bad_request", /token/);
    expectError(await post(path, { token: "x", name: "x" }), 400, "bad_request", /name/);
  },
);
