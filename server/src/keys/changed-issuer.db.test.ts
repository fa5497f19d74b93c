import { describe, expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson } from "../../test/people.ts";
import { sendDuring } from "../../test/send-during.ts";

const beckon = await startTestBeckon();
const body = { name: "Test", preset: "everything" };
const add = async () => (await beckon.call("/keys", { body })).body.data;
const other = await add();
const person = await addPerson(beckon, { role: "viewer" });
const invite = { email: "invited@example.com", role: "viewer" };
const invitation = (await beckon.call("/invitations", { body: invite })).body.data;

/** Requests that grant access, or take it from others. */
const requests = [
  ["/keys", { body }],
  [`/keys/${other.id}`, { method: "PATCH", body: { name: "Changed" } }],
  [`/keys/${other.id}/rotate`, { method: "POST" }],
  [`/keys/${other.id}`, { method: "DELETE" }],
  [`/members/${person.id}/reset-link`, { method: "POST" }],
  [`/members/${person.id}`, { method: "PATCH", body: { role: "owner" } }],
  [`/members/${person.id}`, { method: "DELETE" }],
  ["/invitations", { body: { email: "new@example.com", role: "owner" } }],
  [`/invitations/${invitation.id}`, { method: "DELETE" }],
  ["/workspaces", { body: { name: "Test" } }],
] as const;

/** Sends each request with a key of its own, while `change` is applied to this key, `$1`. */
async function sendAllDuring(change: string, check: (response: Answer) => void): Promise<void> {
  for (const [path, options] of requests) {
    const { id, key: credential } = await add();
    const response = await sendDuring(beckon.db.database.engine, [change, [id]], () =>
      beckon.call(path, { ...options, credential }),
    );
    check(response);
  }
}

describe("a key grants no access and takes none", () => {
  test.each([
    ["it is deleted", "delete from keys where id = $1"],
    ["its secret is replaced", "delete from key_secrets where key_id = $1"],
    ["it expires", "update keys set expires_at = '2000-01-01' where id = $1"],
  ])("if %s during the request", async (_, change) => {
    await sendAllDuring(change, (response) => expectError(response, 401, "unauthorized"));
  });

  test.each([
    ["its scopes", "update keys set scopes = '{runs:read}' where id = $1"],
    ["its agents", "update keys set agent_ids = '{agt_1}' where id = $1"],
  ])("if %s are changed during the request", async (_, change) => {
    await sendAllDuring(change, (response) =>
      expectError(response, 403, "forbidden", /key was just changed/),
    );
  });
});

test("a key whose secret was rotated with a grace period is used until this ends", async () => {
  const grace = "update key_secrets set expires_at = now() + interval '1 hour' where key_id = $1";
  const { id, key: credential } = await add();
  const response = await sendDuring(beckon.db.database.engine, [grace, [id]], () =>
    beckon.call("/keys", { body, credential }),
  );
  expect(response.status).toBe(201);
});

test("a key can change itself in several requests at once", async () => {
  const { id, key: credential } = await add();
  const rename = (name: string) =>
    beckon.call(`/keys/${id}`, { method: "PATCH", body: { name }, credential });
  const responses = await Promise.all(["A", "B", "C", "D", "E", "F"].map(rename));
  expect(responses.map(({ status }) => status)).toEqual(Array(6).fill(200));
});
