import { type Role, roleScopes, role as roles } from "@beckon/contract";
import { afterAll, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson, type Person } from "../../test/people.ts";
import { sendDuring } from "../../test/send-during.ts";
import { defaultWorkspaceId } from "../workspaces/index.ts";

const beckon = await startTestBeckon();
const other = await beckon.another();
const { engine } = beckon.db.database;
afterAll(() => other.stop());

/** Creates a workspace with one person per given role, in this order. */
async function workspaceOf(
  ...wanted: Role[]
): Promise<{ key: string; id: string; people: Person[] }> {
  const { body } = await beckon.call("/workspaces", { body: { name: "Test" } });
  const { key, id } = body.data;
  const people: Person[] = [];
  for (const role of wanted) people.push(await addPerson(beckon, { role, key }));
  return { key, id, people };
}
const change = (who: Person, whom: Person, role: string) =>
  who.call(`/members/${whom.id}`, { method: "PATCH", body: { role } });
const remove = (who: Person, whom: Person) => who.call(`/members/${whom.id}`, { method: "DELETE" });
const rolesIn = async (key: string): Promise<Record<string, string>> => {
  const { body } = await beckon.call("/members", { credential: key });
  return Object.fromEntries(
    body.data.map(({ id, role }: { id: string; role: string }) => [id, role]),
  );
};

test("each role has all scopes of the role below", () => {
  const [...names] = roles.options;
  for (const [index, name] of names.entries()) {
    for (const lower of names.slice(index))
      expect(roleScopes[name]).toEqual(expect.arrayContaining([...roleScopes[lower]]));
  }
});

describe("a change of role", () => {
  test("applies at once in every process", async () => {
    const { people } = await workspaceOf("owner", "viewer");
    const [owner, viewer] = people as [Person, Person];
    const add = () =>
      viewer.call(`${other.url}/api/public/agents`, { body: { name: "Test", model: "demo/echo" } });
    expectError(await add(), 403, "forbidden", /viewer/);
    expect((await change(owner, viewer, "editor")).body.data).toMatchObject({
      id: viewer.id,
      role: "editor",
      email: viewer.email,
    });
    expect((await add()).status).toBe(201);
    expect((await change(owner, viewer, "viewer")).status).toBe(200);
    expectError(await add(), 403, "forbidden");
  });

  test("is in the audit log with both roles", async () => {
    const { key, people } = await workspaceOf("owner", "viewer");
    const [owner, viewer] = people as [Person, Person];
    await change(owner, viewer, "admin");
    const { body } = await beckon.call(`/audit?action=member.update&target=${viewer.id}`, {
      credential: key,
    });
    expect(body.data).toMatchObject([
      { actor: `user:${owner.id}`, data: { before: { role: "viewer" }, after: { role: "admin" } } },
    ]);
  });

  test("cannot give a role above the actor's own, to themselves or others", async () => {
    const { key, people } = await workspaceOf("owner", "admin", "viewer");
    const [owner, admin, viewer] = people as [Person, Person, Person];
    expectError(await change(admin, viewer, "owner"), 403, "forbidden", /above/);
    expectError(await change(admin, admin, "owner"), 403, "forbidden");
    expectError(await change(admin, owner, "viewer"), 403, "forbidden");
    expectError(await remove(admin, owner), 403, "forbidden");
    expectError(await change(viewer, viewer, "admin"), 403, "forbidden");
    expect(await rolesIn(key)).toEqual({
      [owner.id]: "owner",
      [admin.id]: "admin",
      [viewer.id]: "viewer",
    });
    expect((await change(admin, viewer, "admin")).status).toBe(200);
  });

  test("is rejected for a key that does not have all scopes of both roles", async () => {
    const { key, people } = await workspaceOf("owner", "viewer");
    const [owner, viewer] = people as [Person, Person];
    const made = await beckon.call("/keys", {
      credential: key,
      body: { name: "Members", scopes: ["members:write", ...roleScopes.viewer] },
    });
    const credential = made.body.data.key;
    const set = (id: string, role: string) =>
      beckon.call(`/members/${id}`, { method: "PATCH", credential, body: { role } });
    expectError(await set(viewer.id, "editor"), 403, "forbidden", /agents:write/);
    expectError(await set(owner.id, "viewer"), 403, "forbidden");
    expect((await set(viewer.id, "viewer")).status).toBe(200);
  });

  test.each(["id", "user_id", "workspace_id", "created_at", "email", "name", "token"])(
    "rejects %s",
    async (member) => {
      const { people } = await workspaceOf("owner");
      const [owner] = people as [Person];
      const response = await owner.call(`/members/${owner.id}`, {
        method: "PATCH",
        body: { role: "owner", [member]: "x" },
      });
      expectError(response, 400, "bad_request", new RegExp(member));
    },
  );
});

describe("a removal", () => {
  test("applies at once in every process and does not affect the person's other workspaces", async () => {
    const { key, id, people } = await workspaceOf("owner", "editor");
    const [owner, editor] = people as [Person, Person];
    const second = await workspaceOf();
    await beckon.db.database.engine.query(
      "insert into members (user_id, workspace_id, role) values ($1, $2, 'viewer')",
      [editor.id, second.id],
    );
    const list = (workspace: string) =>
      editor.call(`${other.url}/api/public/agents`, {
        headers: { "beckon-workspace": workspace, origin: other.url },
      });
    expect((await list(id)).status).toBe(200);
    expect((await remove(owner, editor)).status).toBe(204);
    expectError(await list(id), 404, "not_found");
    expect((await list(second.id)).status).toBe(200);
    expect(Object.keys(await rolesIn(key))).toEqual([owner.id]);
    const { body } = await beckon.call("/audit?action=member.delete", { credential: key });
    expect(body.data).toMatchObject([
      {
        actor: `user:${owner.id}`,
        target: editor.id,
        data: { email: editor.email, role: "editor" },
      },
    ]);
  });

  test("of oneself is allowed for every role", async () => {
    const { key, people } = await workspaceOf("owner", "owner", "admin", "editor", "viewer");
    for (const person of people.slice(1)) expect((await remove(person, person)).status).toBe(204);
    expect(Object.keys(await rolesIn(key))).toEqual([people[0]?.id]);
  });

  test("of a person who is not a member returns 404", async () => {
    const [one, two] = [await workspaceOf("owner"), await workspaceOf("viewer")];
    const [owner, stranger] = [one.people[0], two.people[0]] as [Person, Person];
    expectError(await remove(owner, stranger), 404, "not_found");
    expectError(await change(owner, stranger, "viewer"), 404, "not_found");
    expectError(
      await owner.call(`/members/${stranger.id}/reset-link`, { method: "POST" }),
      404,
      "not_found",
    );
    expect(Object.keys(await rolesIn(two.key))).toEqual([stranger.id]);
  });

  test("withdraws the person's open invitations", async () => {
    const { key, people } = await workspaceOf("owner", "admin");
    const [owner, admin] = people as [Person, Person];
    const { body } = await admin.call("/invitations", {
      body: { email: "back@example.com", role: "admin" },
    });
    const kept = await owner.call("/invitations", {
      body: { email: "kept@example.com", role: "viewer" },
    });
    await remove(owner, admin);
    const accept = {
      token: body.data.token,
      name: "Back",
      password: "correct horse battery staple",
    };
    expectError(
      await beckon.call("/invitations/accept", { credential: null, body: accept }),
      401,
      "unauthorized",
    );
    const { body: left } = await beckon.call("/invitations", { credential: key });
    expect(left.data.map(({ id }: { id: string }) => id)).toEqual([kept.body.data.id]);
  });

  test("concurrent with an invitation by the person leaves no invitation", async () => {
    for (let round = 0; round < 6; round++) {
      const { key, people } = await workspaceOf("owner", "admin");
      const [owner, admin] = people as [Person, Person];
      const invite = (index: number) =>
        admin.call("/invitations", { body: { email: `back${index}@example.com`, role: "admin" } });
      await Promise.all([invite(0), invite(1), remove(owner, admin), invite(2), invite(3)]);
      const { body } = await beckon.call("/invitations", { credential: key });
      expect(body.data).toEqual([]);
    }
  });

  test("during a request for a key lets the person neither create nor change one", async () => {
    const { key, id, people } = await workspaceOf("admin", "admin", "admin");
    const body = { name: "Test", preset: "everything" };
    const made = await beckon.call("/keys", { credential: key, body });
    const path = `/keys/${made.body.data.id}`;
    const requests = [
      (by: Person) => by.call("/keys", { body }),
      (by: Person) => by.call(`${path}/rotate`, { method: "POST" }),
      (by: Person) => by.call(path, { method: "PATCH", body: { name: "Changed" } }),
    ];
    for (const [index, send] of requests.entries()) {
      const person = people[index] as Person;
      const response = await sendDuring(
        engine,
        ["delete from members where workspace_id = $1 and user_id = $2", [id, person.id]],
        () => send(person),
      );
      expectError(response, 403, "forbidden", /role in this workspace was just changed/);
    }
  });

  test("or a lower role withdraws invitations that the person could not issue any more", async () => {
    const { key, people } = await workspaceOf("owner", "owner");
    const [owner, second] = people as [Person, Person];
    for (const role of ["owner", "admin", "viewer"])
      await second.call("/invitations", { body: { email: `${role}@example.com`, role } });
    const open = async () =>
      (await beckon.call("/invitations", { credential: key })).body.data.map(
        (each: { role: string }) => each.role,
      );
    await change(owner, second, "admin");
    expect(await open()).toEqual(["viewer", "admin"]);
    await change(owner, second, "editor");
    expect(await open()).toEqual([]);
  });
});

describe("the last owner", () => {
  test("can neither leave, nor be removed, nor get a lower role", async () => {
    const { key, people } = await workspaceOf("owner", "admin");
    const [owner] = people as [Person];
    expectError(await remove(owner, owner), 409, "conflict", /last owner/);
    expectError(await change(owner, owner, "admin"), 409, "conflict", /last owner/);
    expectError(
      await beckon.call(`/members/${owner.id}`, { method: "DELETE", credential: key }),
      409,
      "conflict",
    );
    expect((await change(owner, owner, "owner")).status).toBe(200);
  });

  test("stays when two owners leave concurrently in two processes", async () => {
    for (let round = 0; round < 5; round++) {
      const { key, people } = await workspaceOf("owner", "owner");
      const [one, two] = people as [Person, Person];
      const responses = await Promise.all([
        round % 2 === 0 ? remove(one, two) : remove(one, one),
        change(
          { ...two, call: (path, options) => two.call(`${other.url}/api/public${path}`, options) },
          two,
          "viewer",
        ),
        remove(two, one),
      ]);
      expect(responses.map(({ status }) => status)).not.toContain(500);
      expect(Object.values(await rolesIn(key))).toContain("owner");
    }
  });
});

describe("members cannot grant a key scopes that they do not have", () => {
  test("an admin cannot create a key with an owner's scopes", async () => {
    const { people } = await workspaceOf("owner", "admin");
    const [owner, admin] = people as [Person, Person];
    expectError(
      await admin.call("/keys", { body: { name: "Test", scopes: ["workspaces:own"] } }),
      403,
      "forbidden",
      /workspaces:own/,
    );
    expect(
      (await admin.call("/keys", { body: { name: "Test", scopes: roleScopes.admin } })).status,
    ).toBe(201);
    const made = await owner.call("/keys", { body: { name: "Owner's", preset: "everything" } });
    expect(made.body.data.created_by).toBe(`user:${owner.id}`);
    expectError(
      await admin.call(`/keys/${made.body.data.id}/rotate`, { method: "POST" }),
      403,
      "forbidden",
    );
  });

  test("an editor cannot create keys", async () => {
    const { people } = await workspaceOf("owner", "editor");
    const [, editor] = people as [Person, Person];
    expectError(
      await editor.call("/keys", { body: { name: "Test", preset: "invoke" } }),
      403,
      "forbidden",
      /editor/,
    );
    expect((await editor.call("/keys")).status).toBe(200);
  });
});

describe("a link to set a new password", () => {
  const link = (who: Person, whom: Person) =>
    who.call(`/members/${whom.id}/reset-link`, { method: "POST" });

  test("can be issued by owners only", async () => {
    const { people } = await workspaceOf("owner", "admin", "viewer");
    const [owner, admin, viewer] = people as [Person, Person, Person];
    expectError(await link(admin, viewer), 403, "forbidden", /workspaces:own/);
    expect((await link(owner, viewer)).headers.get("cache-control")).toBe("no-store");
  });

  test("cannot be issued by a person for themselves, but by a key of the workspace default", async () => {
    const owner = await addPerson(beckon, { role: "owner" });
    expectError(await link(owner, owner), 403, "forbidden", /bootstrap key/);
    const { body } = await beckon.call(`/members/${owner.id}/reset-link`, { method: "POST" });
    const { token } = body.data;
    const check = () => beckon.call("/password/reset/check", { credential: null, body: { token } });
    expect((await check()).status).toBe(200);
    // Simulates a link that a person issued for themselves with an earlier version of Beckon, which
    // allowed this.
    await beckon.db.database.engine.query(
      "update password_resets set created_by = 'user:' || user_id where user_id = $1",
      [owner.id],
    );
    expectError(await check(), 401, "unauthorized");
  });

  test("cannot be issued for a member of workspaces that the issuer does not own", async () => {
    const [one, two] = [await workspaceOf("owner"), await workspaceOf("owner")];
    const [owner, victim] = [one.people[0], two.people[0]] as [Person, Person];
    const join = (person: Person, workspaceId: string, role: Role) =>
      beckon.db.database.engine.query(
        "insert into members (user_id, workspace_id, role) values ($1, $2, $3)",
        [person.id, workspaceId, role],
      );
    await join(victim, one.id, "viewer");
    expectError(await link(owner, victim), 403, "forbidden", /do not own.* owners .* remove/);
    const byKey = () =>
      beckon.call(`/members/${victim.id}/reset-link`, { method: "POST", credential: one.key });
    expectError(await byKey(), 403, "forbidden");
    await join(owner, two.id, "owner");
    const response = await owner.call(`/members/${victim.id}/reset-link`, {
      method: "POST",
      headers: { "beckon-workspace": one.id },
    });
    expect(response.status).toBe(200);
    await join(victim, defaultWorkspaceId, "viewer");
    expectError(await byKey(), 403, "forbidden", /owner of the workspace default/);
  });
});
