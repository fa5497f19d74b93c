import { roleScopes } from "@beckon/contract";
import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson } from "../../test/people.ts";
import { sendDuring } from "../../test/send-during.ts";
import { defaultWorkspaceId } from "./index.ts";

const beckon = await startTestBeckon();
const owner = await addPerson(beckon, { role: "owner" });
const inDefault = { "beckon-workspace": defaultWorkspaceId };

describe("a new workspace", () => {
  test("has its creator as the only owner", async () => {
    const made = await owner.call("/workspaces", {
      body: { name: "Support", time_zone: "Europe/Zurich" },
      headers: inDefault,
    });
    expect([made.status, made.body.data]).toEqual([
      201,
      expect.objectContaining({ name: "Support", time_zone: "Europe/Zurich" }),
    ]);
    const { id } = made.body.data;
    expect(made.headers.get("location")).toBe(`/api/public/workspaces/${id}`);
    expect((await owner.call("/me")).body.data.workspaces).toContainEqual({
      id,
      name: "Support",
      role: "owner",
      scopes: roleScopes.owner,
    });
    expect((await owner.call(`/agents?workspace=${id}`)).body.data).toEqual([]);
    const other = await addPerson(beckon, { role: "owner" });
    expectError(await other.call(`/workspaces/${id}`), 404, "not_found");
    expectError(await beckon.call(`/workspaces/${id}`), 404, "not_found");
    for (const workspace of [defaultWorkspaceId, id]) {
      const { body } = await owner.call(
        `/audit?workspace=${workspace}&action=workspace.create&target=${id}`,
      );
      expect(body.data).toMatchObject([{ actor: `user:${owner.id}`, data: { name: "Support" } }]);
    }
  });

  test("created by a key comes with a key that has the same scopes", async () => {
    const { body } = await beckon.call("/workspaces", { body: { name: "Key's" } });
    const credential = body.data.key;
    expect(
      (await beckon.call("/workspaces", { credential })).body.data.map(
        ({ id }: { id: string }) => id,
      ),
    ).toEqual([body.data.id]);
    const [mine, theirs] = await Promise.all([
      beckon.call("/keys"),
      beckon.call("/keys", { credential }),
    ]);
    expect(theirs.body.data[0].scopes).toEqual(
      mine.body.data.find(({ bootstrap }: { bootstrap: boolean }) => bootstrap).scopes,
    );
    expect((await beckon.call(`/workspaces/${body.data.id}`)).status).toBe(404);
  });

  test("created by a key has a first key that expires when that key does", async () => {
    const ofBootstrapKey = await beckon.call("/workspaces", { body: { name: "For ever" } });
    expect(ofBootstrapKey.body.data.key_expires_at).toBeNull();
    const creator = await beckon.call("/keys", {
      body: { name: "Creator", preset: "everything", expires_in_days: 365 },
    });
    const { body } = await beckon.call("/workspaces", {
      credential: creator.body.data.key,
      body: { name: "A year" },
    });
    const { key, key_id: id, key_expires_at: expiresAt } = body.data;
    expect(expiresAt).toBe(creator.body.data.expires_at);
    expect((await beckon.call(`/keys/${id}`, { credential: key })).body.data).toMatchObject({
      name: "First key",
      expires_at: expiresAt,
    });
  });

  test("can only be added by owners and keys of the workspace default", async () => {
    const admin = await addPerson(beckon, { role: "admin" });
    expectError(await admin.call("/workspaces", { body: { name: "Test" } }), 403, "forbidden");
    const { key, id } = (await beckon.call("/workspaces", { body: { name: "Second" } })).body.data;
    expectError(
      await beckon.call("/workspaces", { credential: key, body: { name: "Third" } }),
      403,
      "forbidden",
      /default/,
    );
    const second = await addPerson(beckon, { role: "owner", key });
    expectError(
      await second.call("/workspaces", { body: { name: "Third" } }),
      403,
      "forbidden",
      /default/,
    );
    expect((await second.call("/me")).body.data.workspaces).toMatchObject([{ id }]);
  });

  test("is not created by a person who is removed from default during the request", async () => {
    const removed = await addPerson(beckon, { role: "owner" });
    const response = await sendDuring(
      beckon.db.database.engine,
      [
        "delete from members where workspace_id = $1 and user_id = $2",
        [defaultWorkspaceId, removed.id],
      ],
      () => removed.call("/workspaces", { body: { name: "Theirs" }, headers: inDefault }),
    );
    expectError(response, 403, "forbidden", /role in this workspace was just changed/);
    expect((await removed.call("/me")).body.data.workspaces).toEqual([]);
  });

  test("is created once per Idempotency-Key", async () => {
    const send = () =>
      beckon.call("/workspaces", {
        body: { name: "Once" },
        headers: { "idempotency-key": "once" },
      });
    const responses = await Promise.all([send(), send(), send()]);
    expect(new Set(responses.map(({ body }) => body.data.id)).size).toBe(1);
  });

  test.each([
    [{ name: "Test", id: "wsp_x" }, /id/],
    [{ name: "Test", created_at: "2026-01-01T00:00:00Z" }, /created_at/],
    [{ name: "Test", owner: "usr_x" }, /owner/],
    [{ name: "Test", role: "owner" }, /role/],
    [{ name: "" }, /name/],
    [{ name: "Test", time_zone: "Mars/Olympus" }, /time_zone/],
    [{ name: "Test", time_zone: "+02:00" }, /time_zone/],
    [{}, /name/],
  ])("is not created from %j", async (body, text) => {
    expectError(await beckon.call("/workspaces", { body }), 400, "bad_request", text);
  });
});

describe("a workspace", () => {
  test("can be changed by its admins, with an audit entry", async () => {
    const admin = await addPerson(beckon, { role: "admin" });
    const path = `/workspaces/${defaultWorkspaceId}`;
    expect(
      (await admin.call(path, { method: "PATCH", body: { time_zone: "America/New_York" } })).body
        .data.time_zone,
    ).toBe("America/New_York");
    const { body } = await admin.call(`/audit?action=workspace.update&actor=user:${admin.id}`);
    expect(body.data).toMatchObject([
      { data: { before: { time_zone: "UTC" }, after: { time_zone: "America/New_York" } } },
    ]);
    const editor = await addPerson(beckon, { role: "editor" });
    expectError(
      await editor.call(path, { method: "PATCH", body: { name: "Theirs" } }),
      403,
      "forbidden",
    );
    expect((await editor.call(path)).body.data.name).toBe("default");
    for (const member of ["id", "created_at", "role", "token"]) {
      expectError(
        await admin.call(path, { method: "PATCH", body: { [member]: "x" } }),
        400,
        "bad_request",
        new RegExp(member),
      );
    }
  });

  test("with a time zone that PostgreSQL no longer knows can get another one", async () => {
    const { id, key } = (await beckon.call("/workspaces", { body: { name: "Zone" } })).body.data;
    const { engine } = beckon.db.database;
    await engine.query("update workspaces set time_zone = 'Asia/Nowhere' where id = $1", [id]);
    await engine.query(
      `insert into budgets (workspace_id, scope_id, scope_kind, metric, allowed, starts, ends)
        values ($1, $1, 'workspace', 'cost', 1000, now() - interval '2 days', now())`,
      [id],
    );
    const { status, body } = await beckon.call(`/workspaces/${id}`, {
      method: "PATCH",
      body: { time_zone: "Asia/Kolkata" },
      credential: key,
    });
    expect([status, body.data.time_zone]).toEqual([200, "Asia/Kolkata"]);
  });

  test("is not found by members of other workspaces", async () => {
    const { id, key } = (await beckon.call("/workspaces", { body: { name: "Other" } })).body.data;
    for (const [method, body] of [["GET"], ["PATCH", { name: "Ours" }]] as const) {
      expectError(await beckon.call(`/workspaces/${id}`, { method, body }), 404, "not_found");
      expectError(await owner.call(`/workspaces/${id}`, { method, body }), 404, "not_found");
      expectError(
        await beckon.call(`/workspaces/${defaultWorkspaceId}`, { method, body, credential: key }),
        404,
        "not_found",
      );
    }
    expect((await beckon.call(`/workspaces/${id}`, { credential: key })).body.data.name).toBe(
      "Other",
    );
  });
});
