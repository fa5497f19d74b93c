import { createHmac, randomBytes } from "node:crypto";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson, cookieIn, password, signIn, visitor } from "../../test/people.ts";
import { createAuth } from "./auth.ts";

const beckon = await startTestBeckon({ BECKON_TRUST_PROXY: "1" });
const other = await beckon.another();
afterAll(() => other.stop());
const there = (path: string) => `${other.url}/api/public${path}`;
const { engine } = beckon.db.database;

/**
 * Tries to sign in. Failures are counted by IP address, so each test with failed sign-ins uses its
 * own address.
 */
const attempt = (
  email: string,
  given: string,
  address: string,
  more: { workspace_id?: string } = {},
) =>
  beckon.call("/sign-in", {
    credential: null,
    body: { email, password: given, ...more },
    headers: { "x-forwarded-for": address },
  });
/**
 * Tests with many attempts send this workspace id to be faster: a sign-in with a workspace id
 * compares the password with one hash, and a sign-in without one compares it with four.
 */
const aWorkspace = { workspace_id: "wsp_00000000000000000000000000" };

describe("signing in", () => {
  test("sets a cookie that scripts cannot read and other sites cannot send", async () => {
    const { email } = await addPerson(beckon, { role: "viewer" });
    const { status, headers, body } = await beckon.call("/sign-in", {
      credential: null,
      body: { email: email.toUpperCase(), password },
    });
    expect([status, body.data.email]).toEqual([200, email]);
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^beckon\.session_token=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/,
      ),
    ]);
  });

  test("sets a cookie that no other host can set if PUBLIC_URL is https", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    const auth = createAuth({
      database: beckon.db.database,
      masterKey: Buffer.alloc(32),
      secure: true,
    });
    const session = await auth.startSession({
      userId: person.id,
      address: "127.0.0.1",
      userAgent: undefined,
    });
    // Browsers reject a cookie with this prefix if it has a `Domain` or another `Path`.
    expect(session.cookies[0]).toMatch(
      /^__Host-beckon\.session_token=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect(auth.clearCookie).toBe(
      "__Host-beckon.session_token=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict; Secure",
    );
  });

  test("returns the same error for a wrong password and an unknown e-mail", async () => {
    const { email } = await addPerson(beckon, { role: "viewer" });
    const wrong = await attempt(email, "not the password", "203.0.113.1");
    const unknown = await attempt("nobody@example.com", "not the password", "203.0.113.2");
    expectError(wrong, 401, "unauthorized", /e-mail or the password/);
    expect(unknown.body).toEqual(wrong.body);
    expect([wrong, unknown].map(({ headers }) => headers.getSetCookie())).toEqual([[], []]);
  });

  test("is in the audit log of each of the person's workspaces, also if it failed", async () => {
    const { body: made } = await beckon.call("/workspaces", { body: { name: "Second" } });
    const person = await addPerson(beckon, { role: "viewer" });
    await engine.query(
      "insert into members (user_id, workspace_id, role) values ($1, $2, 'viewer')",
      [person.id, made.data.id],
    );
    await signIn(beckon, person.email);
    await attempt(person.email, "not the password", "203.0.113.3");
    for (const credential of [beckon.key, made.data.key]) {
      const find = async (action: string) =>
        (await beckon.call(`/audit?action=${action}&target=${person.id}`, { credential })).body
          .data;
      const [rejected] = await eventually("a record", async () => {
        const found = await find("session.refuse");
        return found.length > 0 ? found : undefined;
      });
      expect(rejected).toMatchObject({ actor: "system", address: "203.0.113.3" });
      expect((await find("session.create")).map(({ actor }: { actor: string }) => actor)).toContain(
        `user:${person.id}`,
      );
    }
    // Rows that one statement has written have the same `cmin`.
    const { rows } = await engine.query(
      `select action, count(distinct cmin::text)::int as statements from audit
        where target = $1 group by action, xmin::text having count(*) > 1 order by action`,
      [person.id],
    );
    expect(rows).toEqual([
      { action: "session.create", statements: 1 },
      { action: "session.refuse", statements: 1 },
    ]);
  });

  test("is in the audit log if it failed, also after many attempts for another workspace", async () => {
    const { id, email } = await addPerson(beckon, { role: "viewer" });
    await Promise.all(
      Array.from({ length: 12 }, () => attempt(email, "guessed", "203.0.113.6", aWorkspace)),
    );
    await attempt(email, "guessed", "203.0.113.6");
    await eventually("a record", async () => {
      const { body } = await beckon.call(`/audit?action=session.refuse&target=${id}`);
      return body.data.length > 0 || undefined;
    });
  });

  test("is rejected without a check after too many failures from an address, and works from others", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    for (let round = 0; round < 3; round++) {
      await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          attempt(`guess${round}-${index}@example.com`, "guessed", "203.0.113.4", aWorkspace),
        ),
      );
    }
    const rejected = await attempt(person.email, password, "203.0.113.4");
    expectError(rejected, 429, "too_many_requests");
    expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await attempt(person.email, password, "203.0.113.5")).status).toBe(200);
    expect(
      (await person.call("/me", { headers: { "x-forwarded-for": "203.0.113.4" } })).status,
    ).toBe(200);
    expect(
      (await beckon.call("/agents", { headers: { "x-forwarded-for": "203.0.113.4" } })).status,
    ).toBe(200);
  });

  test("checks few of many concurrent requests, and responds to the others with 503", async () => {
    const responses = await Promise.all(
      // More than the server checks at once for one address.
      Array.from({ length: 20 }, (_, index) =>
        attempt(`many${index}@example.com`, "guessed", "198.51.100.1", aWorkspace),
      ),
    );
    const statuses = new Set(responses.map(({ status }) => status));
    expect(statuses).toEqual(new Set([401, 503]));
  });
});

/** Lets the person's session expire so soon that the next request extends it. */
const makeExtensible = (personId: string) =>
  engine.query("update sessions set expires_at = now() + interval '20 days' where user_id = $1", [
    personId,
  ]);

describe("a session", () => {
  test("is listed without its token", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    const second = await signIn(beckon, person.email);
    const { body } = await person.call("/sessions");
    expect(body.data.map(({ current }: { current: boolean }) => current)).toEqual([false, true]);
    expect(JSON.stringify(body)).not.toContain(second.cookie.split("=")[1]?.split(".")[0]);
  });

  test("that is revoked in one process is rejected by the other at once", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    const second = await signIn(beckon, person.email);
    expect((await second.call(there("/me"))).status).toBe(200);
    const { body } = await person.call("/sessions");
    const { id } = body.data.find(({ current }: { current: boolean }) => !current);
    expect((await person.call(`/sessions/${id}`, { method: "DELETE" })).status).toBe(204);
    expectError(await second.call(there("/me")), 401, "unauthorized");
    expect((await person.call("/me")).status).toBe(200);
  });

  test("of another person is neither listed nor revocable", async () => {
    const [one, two] = [
      await addPerson(beckon, { role: "owner" }),
      await addPerson(beckon, { role: "viewer" }),
    ];
    const { body } = await two.call("/sessions");
    expectError(
      await one.call(`/sessions/${body.data[0].id}`, { method: "DELETE" }),
      404,
      "not_found",
    );
    expect((await two.call("/me")).status).toBe(200);
  });

  test("is deleted by sign-out together with its cookie", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    const response = await person.call("/sign-out", { method: "POST" });
    expect([response.status, response.headers.getSetCookie()]).toEqual([
      204,
      [expect.stringMatching(/^beckon\.session_token=; Max-Age=0;/)],
    ]);
    expectError(await person.call(there("/me")), 401, "unauthorized");
    const { body } = await beckon.call(`/audit?action=session.delete&actor=user:${person.id}`);
    expect(body.data).toHaveLength(1);
  });

  test("can revoke all other sessions of its person", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    const others = [await signIn(beckon, person.email), await signIn(beckon, person.email)];
    expect((await person.call("/sessions", { method: "DELETE" })).status).toBe(204);
    for (const each of others) expectError(await each.call("/me"), 401, "unauthorized");
    expect((await person.call("/sessions")).body.data).toHaveLength(1);
  });

  test("in use is extended, and its cookie is set again", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    await makeExtensible(person.id);
    const { headers } = await person.call("/agents");
    expect(headers.getSetCookie()).toEqual([expect.stringMatching(/; Max-Age=2592000;/)]);
    expect((await person.call("/agents")).headers.getSetCookie()).toEqual([]);
    const { body } = await person.call("/sessions");
    expect(Date.parse(body.data[0].expires_at) - Date.now()).toBeGreaterThan(29 * 24 * 3_600_000);
  });

  test("is extended by a stream that has already ended, too", async () => {
    const agent = await beckon.createAgent();
    const { body: run } = await beckon.call(`/agents/${agent.id}/invoke`, { body: { input: "x" } });
    const person = await addPerson(beckon, { role: "viewer" });
    await makeExtensible(person.id);
    const journal = `/runs/${run.run_id}/events`;
    const last = (await beckon.call(journal)).body.data.at(-1).seq;
    const { status, headers } = await person.call(journal, {
      headers: { accept: "text/event-stream", "last-event-id": String(last) },
    });
    expect(status).toBe(204);
    expect(headers.getSetCookie()).toEqual([expect.stringMatching(/; Max-Age=2592000;/)]);
  });

  test("that is revoked while it is extended is rejected", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    await makeExtensible(person.id);
    const revoking = await engine.connect();
    onTestFinished(() => revoking.release(true));
    await revoking.query("begin");
    const { rows } = await revoking.query("select pg_backend_pid() as pid");
    await revoking.query("delete from sessions where user_id = $1", [person.id]);
    const response = person.call("/agents");
    await eventually("the extension waits for the deletion", async () => {
      const waiting = await engine.query(
        "select from pg_stat_activity where $1::int = any (pg_blocking_pids(pid))",
        [rows[0].pid],
      );
      return waiting.rows.length > 0 || undefined;
    });
    await revoking.query("commit");
    expectError(await response, 401, "unauthorized");
  });

  test("returns internal_error while sessions cannot be queried", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    await engine.query("alter table sessions rename to sessions_away");
    try {
      expectError(await person.call("/me"), 500, "internal_error");
      expectError(await attempt(person.email, password, "203.0.113.30"), 500, "internal_error");
    } finally {
      await engine.query("alter table sessions_away rename to sessions");
    }
    expect((await person.call("/me")).status).toBe(200);
  });

  test("that has expired is rejected", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    await engine.query(
      "update sessions set expires_at = now() - interval '1 second' where user_id = $1",
      [person.id],
    );
    expectError(await person.call("/me"), 401, "unauthorized");
  });

  test.each([
    ["whose signature is another's", (cookie: string) => cookie.replace(/\.[^.]*$/, ".AAAA")],
    ["without a signature", (cookie: string) => cookie.replace(/\.[^.]*$/, "")],
    ["with another token", (cookie: string) => cookie.replace(/=./, "=~")],
    ["that is no URL encoding", (cookie: string) => `${cookie}%E0%A4%A`],
    ["with a NUL", () => "beckon.session_token=%00.%00"],
    ["that is empty", () => "beckon.session_token="],
  ])("cookie %s is rejected", async (_, change) => {
    const { cookie } = await addPerson(beckon, { role: "viewer" });
    expectError(await visitor(beckon, change(cookie)).call("/me"), 401, "unauthorized");
  });

  test("cannot be used with its stored token, unsigned or signed with another key", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    const { rows } = await engine.query<{ token: string }>(
      "select token from sessions where user_id = $1",
      [person.id],
    );
    const token = rows[0]?.token ?? "";
    const signed = (key: string | Buffer) =>
      encodeURIComponent(`${token}.${createHmac("sha256", key).update(token).digest("base64")}`);
    const masterKey = Buffer.from(beckon.config.masterKey ?? "", "base64");
    const values = [
      token,
      `${token}.`,
      `${token}.${token}`,
      signed(""),
      signed(token),
      signed(masterKey),
      signed(randomBytes(32)),
    ];
    for (const value of values) {
      for (const cookie of [
        `beckon.session_token=${value}`,
        `__Host-beckon.session_token=${value}`,
      ]) {
        const response = await visitor(beckon, cookie).call("/me", {
          headers: { authorization: `Bearer ${token}` },
        });
        expectError(response, 401, "unauthorized");
      }
    }
    expectError(await beckon.call("/me", { credential: token }), 401, "unauthorized");
    expect(decodeURIComponent(person.cookie)).toContain(`=${token}.`);
    expect((await person.call("/me")).status).toBe(200);
    for (const path of [
      "/api/auth/get-session",
      "/api/auth/sign-in/email",
      "/api/auth/list-sessions",
    ]) {
      expect((await beckon.call(beckon.url + path, { credential: null })).status).toBe(404);
    }
  });

  test("of one installation is rejected by another, even if its tables were copied", async () => {
    const stranger = await startTestBeckon();
    const person = await addPerson(beckon, { role: "viewer" });
    const tables = ["users", "members", "sessions"];
    for (const table of tables) {
      const { rows } = await engine.query<{ row: string }>(
        `select to_jsonb(t)::text as row from ${table} t where ${table === "users" ? "id" : "user_id"} = $1`,
        [person.id],
      );
      await stranger.db.database.engine.query(
        `insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1::jsonb)`,
        [`[${rows.map(({ row }) => row).join(",")}]`],
      );
    }
    expectError(await visitor(stranger, person.cookie).call("/me"), 401, "unauthorized");
    expect((await person.call("/me")).status).toBe(200);
  });
});

describe("a password", () => {
  const next = "a password of their own choosing";

  test("cannot be changed without the current one, nor to a short one", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    const wrong = { current_password: "not the password", new_password: next };
    expectError(
      await person.call("/password", {
        body: wrong,
        headers: { "x-forwarded-for": "203.0.113.21" },
      }),
      401,
      "unauthorized",
    );
    expectError(
      await person.call("/password", {
        body: { current_password: password, new_password: "short" },
      }),
      400,
      "bad_request",
      /12/,
    );
    await signIn(beckon, person.email);
  });

  test("is changed once by concurrent changes", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    const change = (index: number) =>
      person.call("/password", {
        body: { current_password: password, new_password: `${next} ${index}` },
      });
    const responses = await Promise.all([change(1), change(2), change(3)]);
    expect(responses.filter(({ status }) => status === 204)).toHaveLength(1);
  });

  test("can be set with a reset link, once, which deletes all sessions", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    const owner = await addPerson(beckon, { role: "owner" });
    const { body: made } = await owner.call(`/members/${person.id}/reset-link`, { method: "POST" });
    expect(made.data.url).toBe(`${beckon.url}/reset#token=${made.data.token}`);
    const reset = (address: string) =>
      beckon.call("/password/reset", {
        credential: null,
        body: { token: made.data.token, new_password: next },
        headers: { "x-forwarded-for": address },
      });
    const responses = await Promise.all([reset("203.0.113.22"), reset("203.0.113.23")]);
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 401]);
    expectError(await person.call("/me"), 401, "unauthorized");
    expectError(await reset("203.0.113.24"), 401, "unauthorized", /link/);
    await signIn(beckon, person.email, next);
    for (const action of ["password.reset_link", "password.reset"]) {
      const { body } = await beckon.call(`/audit?action=${action}&target=${person.id}`);
      expect([action, body.data.length, JSON.stringify(body).includes(made.data.token)]).toEqual([
        action,
        1,
        false,
      ]);
    }
  });

  test("reset link is invalid after a newer one, after a day and after a change of the password", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    const link = async () =>
      (await beckon.call(`/members/${person.id}/reset-link`, { method: "POST" })).body.data.token;
    const use = (token: string) =>
      beckon.call("/password/reset", { credential: null, body: { token, new_password: next } });
    const first = await link();
    const second = await link();
    expectError(await use(first), 401, "unauthorized");
    await engine.query(
      "update password_resets set expires_at = now() - interval '1 second' where user_id = $1",
      [person.id],
    );
    expectError(await use(second), 401, "unauthorized");
    const third = await link();
    await person.call("/password", { body: { current_password: password, new_password: next } });
    expectError(await use(third), 401, "unauthorized");
  });

  test("is not stored in plain text, nor is the token of a link", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    const { body } = await beckon.call(`/members/${person.id}/reset-link`, { method: "POST" });
    const tables = [
      "users",
      "accounts",
      "sessions",
      "password_resets",
      "invitations",
      "audit",
      "verifications",
    ];
    for (const table of tables) {
      const { rows } = await engine.query<{ text: string | null }>(
        `select string_agg(t::text, ' ') as text from ${table} t`,
      );
      expect([
        table,
        rows[0]?.text?.includes(password) === true,
        rows[0]?.text?.includes(body.data.token) === true,
      ]).toEqual([table, false, false]);
    }
  });
});

test("a person can change their name and nothing else", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  expect(
    (await person.call("/me", { method: "PATCH", body: { name: "Grace" } })).body.data,
  ).toMatchObject({
    id: person.id,
    name: "Grace",
  });
  for (const member of [
    "id",
    "email",
    "role",
    "created_at",
    "email_verified",
    "password",
    "workspaces",
  ]) {
    expectError(
      await person.call("/me", { method: "PATCH", body: { [member]: "x" } }),
      400,
      "bad_request",
      new RegExp(member),
    );
  }
});

test("a key has no account", async () => {
  for (const path of ["/me", "/sessions"])
    expectError(await beckon.call(path), 401, "unauthorized", /sign in with/);
});

test("a person without memberships stays signed in, and requests to a workspace say so", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  await person.call(`/members/${person.id}`, { method: "DELETE" });
  expect((await person.call("/me")).body.data.workspaces).toEqual([]);
  expectError(await person.call("/agents"), 403, "forbidden", /not a member of any workspace/);
  expect(cookieIn((await person.call("/me")).headers)).toBe("");
});
