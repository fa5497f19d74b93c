import { type Role, roleScopes } from "@beckon/contract";
import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson, type Person, password } from "../../test/people.ts";

/**
 * Tests that a link is valid only as long as its issuer has the right to issue it.
 * `links-property.db.test.ts` tests the same after random changes.
 */

const beckon = await startTestBeckon({ BECKON_TRUST_PROXY: "1" });
const { engine } = beckon.db.database;
let addresses = 0;
/** A new IP address, because the number of requests with invalid links per address is limited. */
const from = () => ({ "x-forwarded-for": `198.51.100.${++addresses}` });

async function newWorkspace(): Promise<{ id: string; key: string }> {
  return (await beckon.call("/workspaces", { body: { name: "Test" } })).body.data;
}
const invite = (key: string, role: Role) =>
  beckon.call("/invitations", { credential: key, body: { email: "guest@example.com", role } });
/** Adds a person, who has an account already, to the workspace of the key. */
async function join(person: Person, key: string, role: Role): Promise<void> {
  const { body } = await invite(key, role);
  expect(
    (await person.call("/invitations/accept", { body: { token: body.data.token } })).status,
  ).toBe(200);
}
async function makeReset(
  owner: Person,
  person: Person,
  workspace: { id: string },
): Promise<string> {
  const headers = { "beckon-workspace": workspace.id };
  const response = await owner.call(`/members/${person.id}/reset-link`, {
    method: "POST",
    headers,
  });
  expect(response.status).toBe(200);
  return response.body.data.token;
}
const useReset = (token: string) =>
  beckon.call("/password/reset", {
    credential: null,
    body: { token, new_password: "a password of the thief's" },
    headers: from(),
  });
const accept = (token: string) =>
  beckon.call("/invitations/accept", {
    credential: null,
    body: { token, name: "Guest", password },
    headers: from(),
  });

describe("a reset link", () => {
  async function ownerAndMember() {
    const workspace = await newWorkspace();
    const owner = await addPerson(beckon, { role: "owner", key: workspace.key });
    const member = await addPerson(beckon, { role: "viewer", key: workspace.key });
    return { workspace, owner, member, token: await makeReset(owner, member, workspace) };
  }
  const unknown = () => useReset(`bkr_${"A".repeat(48)}`);

  test("is invalid after the person joined the workspace default", async () => {
    const { member, token } = await ownerAndMember();
    await join(member, beckon.key, "owner");
    const response = await useReset(token);
    expectError(response, 401, "unauthorized");
    expect(response.body).toEqual((await unknown()).body);
    expect((await member.call("/me")).status).toBe(200);
  });

  test("is permanently invalid after a membership or role of its person changed", async () => {
    const changes: ((given: Awaited<ReturnType<typeof ownerAndMember>>) => Promise<unknown>)[] = [
      async ({ member, workspace }) => {
        for (const role of ["editor", "viewer"]) {
          await beckon.call(`/members/${member.id}`, {
            method: "PATCH",
            credential: workspace.key,
            body: { role },
          });
        }
      },
      async ({ member, workspace }) => {
        await beckon.call(`/members/${member.id}`, { method: "DELETE", credential: workspace.key });
        await join(member, workspace.key, "viewer");
      },
      async ({ member }) => {
        const other = await newWorkspace();
        await join(member, other.key, "viewer");
        await beckon.call(`/members/${member.id}`, { method: "DELETE", credential: other.key });
      },
    ];
    for (const change of changes) {
      const given = await ownerAndMember();
      await change(given);
      expectError(await useReset(given.token), 401, "unauthorized");
    }
  });

  test("stays valid if the role of its person is set to the same role", async () => {
    const { workspace, member, token } = await ownerAndMember();
    const response = await beckon.call(`/members/${member.id}`, {
      method: "PATCH",
      credential: workspace.key,
      body: { role: "viewer" },
    });
    expect(response.status).toBe(200);
    const audit = await beckon.call("/audit?action=member.update", { credential: workspace.key });
    expect(audit.body.data).toEqual([]);
    expect((await useReset(token)).status).toBe(204);
  });

  test("is invalid while its issuer is not an owner of the workspace", async () => {
    const demoted = await ownerAndMember();
    const removed = await ownerAndMember();
    for (const { workspace } of [demoted, removed])
      await addPerson(beckon, { role: "owner", key: workspace.key });
    await beckon.call(`/members/${demoted.owner.id}`, {
      method: "PATCH",
      credential: demoted.workspace.key,
      body: { role: "admin" },
    });
    await beckon.call(`/members/${removed.owner.id}`, {
      method: "DELETE",
      credential: removed.workspace.key,
    });
    for (const { token } of [demoted, removed])
      expectError(await useReset(token), 401, "unauthorized");
  });

  test("of a key is invalid after the key was deleted, expired or lost its scope", async () => {
    const workspace = await newWorkspace();
    const member = await addPerson(beckon, { role: "viewer", key: workspace.key });
    const made = async () => {
      const { body } = await beckon.call("/keys", {
        credential: workspace.key,
        body: { name: "Test", preset: "everything" },
      });
      const link = await beckon.call(`/members/${member.id}/reset-link`, {
        method: "POST",
        credential: body.data.key,
      });
      return { id: body.data.id as string, token: link.body.data.token as string };
    };
    const deleted = await made();
    await beckon.call(`/keys/${deleted.id}`, { method: "DELETE", credential: workspace.key });
    expectError(await useReset(deleted.token), 401, "unauthorized");
    const expired = await made();
    await engine.query("update keys set expires_at = now() - interval '1 second' where id = $1", [
      expired.id,
    ]);
    expectError(await useReset(expired.token), 401, "unauthorized");
    const lessened = await made();
    const body = { scopes: ["members:read"] };
    await beckon.call(`/keys/${lessened.id}`, { method: "PATCH", credential: workspace.key, body });
    expectError(await useReset(lessened.token), 401, "unauthorized");
    expect((await useReset((await made()).token)).status).toBe(204);
  });

  test("cannot be issued or used by a key without all scopes of the person's role", async () => {
    const workspace = await newWorkspace();
    const owner = await addPerson(beckon, { role: "owner", key: workspace.key });
    const viewer = await addPerson(beckon, { role: "viewer", key: workspace.key });
    const { body } = await beckon.call("/keys", {
      credential: workspace.key,
      body: { name: "Test", scopes: ["workspaces:own"] },
    });
    const issue = (member: Person) =>
      beckon.call(`/members/${member.id}/reset-link`, {
        method: "POST",
        credential: body.data.key,
      });
    const setScopes = (scopes: readonly string[]) =>
      beckon.call(`/keys/${body.data.id}`, {
        method: "PATCH",
        credential: workspace.key,
        body: { scopes },
      });
    expectError(await issue(owner), 403, "forbidden", /role owner.*agents:write/);
    expectError(await issue(viewer), 403, "forbidden", /role viewer.*agents:read/);
    await setScopes(roleScopes.owner);
    const { token } = (await issue(owner)).body.data;
    await setScopes(["workspaces:own", ...roleScopes.viewer]);
    expectError(await useReset(token), 401, "unauthorized");
    expect((await useReset((await issue(viewer)).body.data.token)).status).toBe(204);
    await setScopes(roleScopes.owner);
    expect((await useReset(token)).status).toBe(204);
  });

  test("and concurrently joining another workspace do not both succeed", async () => {
    for (let round = 0; round < 6; round++) {
      const { member, token } = await ownerAndMember();
      const { body } = await invite(beckon.key, "viewer");
      const [reset, joined] = await Promise.all([
        useReset(token),
        member.call("/invitations/accept", { body: { token: body.data.token } }),
      ]);
      expect([reset.status, joined.status]).toBeOneOf([
        [204, 401],
        [401, 200],
      ]);
    }
  });
});

describe("an invitation", () => {
  test("is invalid after its key was deleted, expired or lost scopes", async () => {
    const made = async () => {
      const { body } = await beckon.call("/keys", { body: { name: "Test", preset: "everything" } });
      const { data } = (await invite(body.data.key, "admin")).body;
      const { id, token, valid } = data as { id: string; token: string; valid: boolean };
      return { id: body.data.id as string, token, invitation: [id, valid] };
    };
    const listed = async () =>
      (await beckon.call("/invitations")).body.data.map(
        ({ id, valid }: { id: string; valid: boolean }) => [id, valid],
      );
    const deleted = await made();
    expect(deleted.invitation[1]).toBe(true);
    expect(await listed()).toContainEqual(deleted.invitation);
    await beckon.call(`/keys/${deleted.id}`, { method: "DELETE" });
    const wrong = await accept(`bki_${"A".repeat(48)}`);
    expect((await accept(deleted.token)).body).toEqual(wrong.body);
    const expired = await made();
    await engine.query("update keys set expires_at = now() - interval '1 second' where id = $1", [
      expired.id,
    ]);
    expectError(await accept(expired.token), 401, "unauthorized");
    const lessened = await made();
    await beckon.call(`/keys/${lessened.id}`, {
      method: "PATCH",
      body: { scopes: ["members:write"] },
    });
    expectError(await accept(lessened.token), 401, "unauthorized", /issuer can no longer invite/);
    for (const { invitation } of [deleted, expired, lessened])
      expect(await listed()).toContainEqual([invitation[0], false]);
    expect(
      (await beckon.call("/members")).body.data.map(({ name }: { name: string }) => name),
    ).not.toContain("Guest");
  });

  test("is invalid if its role is above the issuer's current role", async () => {
    const workspace = await newWorkspace();
    const owner = await addPerson(beckon, { role: "owner", key: workspace.key });
    const { body } = await owner.call("/invitations", {
      body: { email: "guest@example.com", role: "owner" },
    });
    // Simulates a change of role that did not withdraw the invitation, as in a restored backup or
    // with an older version of Beckon.
    await engine.query("update members set role = 'admin' where user_id = $1", [owner.id]);
    expectError(await accept(body.data.token), 401, "unauthorized");
    const list = () => beckon.call("/invitations", { credential: workspace.key });
    expect((await list()).body.data).toMatchObject([{ valid: false }]);
    await engine.query("update members set role = 'owner' where user_id = $1", [owner.id]);
    expect((await list()).body.data).toMatchObject([{ valid: true }]);
    await engine.query("update invitations set expires_at = now() where id = $1", [body.data.id]);
    expect((await list()).body.data).toMatchObject([{ valid: false }]);
    await engine.query(
      "update invitations set expires_at = now() + interval '1 day' where id = $1",
      [body.data.id],
    );
    expect((await accept(body.data.token)).status).toBe(200);
  });
});
