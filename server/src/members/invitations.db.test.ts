import { roleScopes } from "@beckon/contract";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson, password, signIn } from "../../test/people.ts";
import { insertStranger } from "../../test/workspace-key.ts";
import { inWorkspace } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { insertInvitation } from "./invitation-store.ts";

const beckon = await startTestBeckon({ BECKON_TRUST_PROXY: "1" });
let guests = 0;
const guest = () => `guest${++guests}@example.com`;

const invite = (body: Record<string, unknown>, credential = beckon.key) =>
  beckon.call("/invitations", { credential, body });
const accept = (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
  beckon.call("/invitations/accept", {
    credential: null,
    body,
    headers: { "x-forwarded-for": "203.0.113.1", ...headers },
  });
const open = async () =>
  (await beckon.call("/invitations?limit=200")).body.data as { id: string; email: string }[];

describe("an invitation", () => {
  test("shows its link once, with the token in the fragment", async () => {
    const email = guest();
    const { status, headers, body } = await invite({ email: email.toUpperCase(), role: "editor" });
    expect([status, headers.get("cache-control")]).toEqual([201, "no-store"]);
    expect(body.data).toMatchObject({
      email,
      role: "editor",
      url: `${beckon.url}/invite#token=${body.data.token}`,
    });
    expect(Date.parse(body.data.expires_at) - Date.parse(body.data.created_at)).toBe(
      7 * 24 * 3_600_000,
    );
    const listed = (await open()).find(({ id }) => id === body.data.id);
    expect(listed).toMatchObject({ email });
    expect(JSON.stringify(listed)).not.toContain(body.data.token);
  });

  test("expires regardless of clock changes in the time zone of the database session", async () => {
    const { data } = (await invite({ email: guest(), role: "viewer" })).body;
    const { tenant, engine } = beckon.db.database;
    const { rows } = await engine.query<{ workspace_id: string }>(
      "select workspace_id from invitations where id = $1",
      [data.id],
    );
    const workspaceId = rows[0]?.workspace_id ?? "";
    // At any time of the year, at least one of these periods contains exactly one clock change in
    // New York, so that a day of 23 or 25 hours would change its length.
    for (const days of [90, 180, 270]) {
      const milliseconds = await inWorkspace(tenant, workspaceId, async (tx) => {
        await sql`set local time zone 'America/New_York'`.execute(tx);
        const row = await insertInvitation(tx, {
          id: newId("inv"),
          workspace_id: workspaceId,
          email: guest(),
          role: "viewer",
          hash: Buffer.alloc(32, days),
          created_by: "system",
          days,
        });
        return Number(row.expires_at) - Number(row.created_at);
      });
      expect(milliseconds).toBe(days * 24 * 3_600_000);
    }
  });

  test("makes a new person a member with its role, once", async () => {
    const email = guest();
    const { data } = (await invite({ email, role: "editor" })).body;
    const response = await accept({ token: data.token, name: "Grace", password });
    expect([response.status, response.body.data]).toEqual([
      200,
      expect.objectContaining({ email, name: "Grace", role: "editor" }),
    ]);
    expectError(
      await accept({ token: data.token, name: "Grace", password }),
      401,
      "unauthorized",
      /invitation/,
    );
    expect((await open()).map(({ id }) => id)).not.toContain(data.id);
    const person = await signIn(beckon, email);
    expect((await person.call("/me")).body.data.workspaces).toMatchObject([
      { role: "editor", scopes: roleScopes.editor },
    ]);
    const { body: audit } = await beckon.call(`/audit?action=invitation.accept&target=${data.id}`);
    expect(audit.data).toMatchObject([
      { actor: `user:${person.id}`, data: { email, role: "editor" } },
    ]);
    expect(JSON.stringify(audit)).not.toContain(data.token);
  });

  test("can be accepted by one of many concurrent requests", async () => {
    const { data } = (await invite({ email: guest(), role: "editor" })).body;
    const responses = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        accept({ token: data.token, name: `Guest ${index}`, password }),
      ),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status } of responses) expect(status).toBeOneOf([200, 401]);
  });

  test("fails with the missing fields for a new person", async () => {
    const { data } = (await invite({ email: guest(), role: "viewer" })).body;
    expectError(await accept({ token: data.token }), 400, "bad_request", /name.*password/);
    expectError(
      await accept({ token: data.token, name: "Grace", password: "short" }),
      400,
      "bad_request",
      /password/,
    );
    expect((await accept({ token: data.token, name: "Grace", password })).status).toBe(200);
  });

  test("that was withdrawn or has expired cannot be accepted", async () => {
    const taken = (await invite({ email: guest(), role: "viewer" })).body.data;
    expect((await beckon.call(`/invitations/${taken.id}`, { method: "DELETE" })).status).toBe(204);
    expectError(await accept({ token: taken.token, name: "Grace", password }), 401, "unauthorized");
    const expired = (await invite({ email: guest(), role: "viewer", expires_in_days: 1 })).body
      .data;
    await beckon.db.database.engine.query(
      "update invitations set expires_at = now() where id = $1",
      [expired.id],
    );
    expectError(
      await accept({ token: expired.token, name: "Grace", password }),
      401,
      "unauthorized",
    );
    expectError(
      await accept({ token: "bki_guessed", name: "Grace", password }),
      401,
      "unauthorized",
    );
  });

  test("is rejected for the e-mail of a member, ignoring case", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    expectError(
      await invite({ email: person.email.toUpperCase(), role: "admin" }),
      409,
      "conflict",
      /member/,
    );
  });

  test("cannot have a role above the inviter's", async () => {
    const admin = await addPerson(beckon, { role: "admin" });
    const editor = await addPerson(beckon, { role: "editor" });
    const by = (person: typeof admin, role: string) =>
      person.call("/invitations", { body: { email: guest(), role } });
    expectError(await by(admin, "owner"), 403, "forbidden", /above/);
    expect((await by(admin, "admin")).status).toBe(201);
    expectError(await by(editor, "viewer"), 403, "forbidden");
    const { body } = await beckon.call("/keys", {
      body: { name: "Test", scopes: ["members:write"] },
    });
    expectError(
      await invite({ email: guest(), role: "viewer" }, body.data.key),
      403,
      "forbidden",
      /agents:read/,
    );
    const owners = (await invite({ email: guest(), role: "owner" })).body.data;
    expectError(
      await admin.call(`/invitations/${owners.id}`, { method: "DELETE" }),
      403,
      "forbidden",
    );
    expect((await open()).map(({ id }) => id)).toContain(owners.id);
  });

  test("is visible in its workspace only", async () => {
    const { data } = (await invite({ email: guest(), role: "viewer" })).body;
    const stranger = await insertStranger(beckon);
    expectError(
      await beckon.call(`/invitations/${data.id}`, { method: "DELETE", credential: stranger }),
      404,
      "not_found",
    );
    expect((await beckon.call("/invitations", { credential: stranger })).body.data).toEqual([]);
    expect((await accept({ token: data.token, name: "Grace", password })).status).toBe(200);
  });

  test("is created once per Idempotency-Key", async () => {
    const body = { email: guest(), role: "viewer" };
    const send = () =>
      beckon.call("/invitations", { body, headers: { "idempotency-key": "invite" } });
    const [first, second] = [await send(), await send()];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
  });

  test.each(["id", "workspace_id", "created_at", "created_by", "token", "hash", "expires_at"])(
    "rejects %s",
    async (member) => {
      expectError(
        await invite({ email: guest(), role: "viewer", [member]: "x" }),
        400,
        "bad_request",
        new RegExp(member),
      );
    },
  );

  test.each(["id", "role", "workspace_id", "created_at", "user_id"])(
    "rejects %s when it is accepted",
    async (member) => {
      expectError(
        await accept({ token: "bki_x", name: "x", password, [member]: "x" }),
        400,
        "bad_request",
        new RegExp(member),
      );
    },
  );

  test.each([
    ["an invalid e-mail", { email: "grace", role: "viewer" }, /email/],
    ["an unknown role", { email: "grace@example.com", role: "root" }, /role/],
    [
      "an expiry that is too long",
      { email: "grace@example.com", role: "viewer", expires_in_days: 91 },
      /expires_in_days/,
    ],
  ])("is not created with %s", async (_, body, text) => {
    expectError(await invite(body), 400, "bad_request", text);
  });
});

describe("an invitation to a person with an account", () => {
  async function invitedMember() {
    const { body } = await beckon.call("/workspaces", { body: { name: "Second" } });
    const person = await addPerson(beckon, { role: "viewer" });
    const { data } = (await invite({ email: person.email, role: "admin" }, body.data.key)).body;
    return { person, token: data.token as string, workspaceId: body.data.id as string };
  }

  test("can be accepted with a session", async () => {
    const { person, token, workspaceId } = await invitedMember();
    const response = await person.call("/invitations/accept", { body: { token } });
    expect(response.body.data).toMatchObject({
      id: person.id,
      role: "admin",
      workspace_id: workspaceId,
    });
    expect((await person.call("/me")).body.data.workspaces).toHaveLength(2);
  });

  test("can be accepted with the account's password", async () => {
    const { person, token } = await invitedMember();
    expect((await accept({ token, password })).body.data).toMatchObject({ id: person.id });
  });

  test("with the account's password and a name adds no second account", async () => {
    const { person, token } = await invitedMember();
    expect((await accept({ token, name: "Other", password })).body.data).toMatchObject({
      id: person.id,
      name: "Test",
    });
  });

  test("cannot be accepted by others with the account, and stays open for its person", async () => {
    const { person, token } = await invitedMember();
    const from = { "x-forwarded-for": "203.0.113.2" };
    expectError(await accept({ token }, from), 400, "bad_request", /name and password.*sign in/);
    expectError(await accept({ token, email: person.email }, from), 400, "bad_request", /password/);
    expectError(
      await accept({ token, password: "a password of their own" }, from),
      401,
      "unauthorized",
      /sign in first, then accept the invitation without a password/,
    );
    expect((await signIn(beckon, person.email)).id).toBe(person.id);
    expect((await person.call("/invitations/accept", { body: { token } })).status).toBe(200);
  });

  test("cannot be accepted by a member, whose role stays", async () => {
    const { person, token, workspaceId } = await invitedMember();
    await person.call("/invitations/accept", { body: { token } });
    const second = await person.call("/invitations", {
      body: { email: "x@example.com", role: "viewer" },
      headers: { "beckon-workspace": workspaceId },
    });
    await beckon.db.database.engine.query("update invitations set email = $1 where id = $2", [
      person.email,
      second.body.data.id,
    ]);
    expectError(
      await person.call("/invitations/accept", { body: { token: second.body.data.token } }),
      409,
      "conflict",
      /member/,
    );
    expect((await person.call("/me")).body.data.workspaces).toContainEqual({
      id: workspaceId,
      name: "Second",
      role: "admin",
      scopes: roleScopes.admin,
    });
  });
});
