import { scopes } from "@beckon/contract";
import { afterAll, expect, test } from "vitest";
import { type CallOptions, startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { password, setupToken, signIn } from "../../test/people.ts";
import { hashCredential, newCredential } from "../base/secrets/index.ts";
import type { Beckon } from "../main.ts";

/** The order of the tests matters: the later ones need the owner that an earlier one creates. */

const beckon = await startTestBeckon();
const started: Beckon[] = [];
afterAll(() => Promise.all(started.map((each) => each.stop())));

/**
 * Starts a server as the first process of a supervisor.
 * @returns The setup token that it issues, or null if it issues none.
 */
async function startAnew(): Promise<string | null> {
  const another = await beckon.another({ setup: true });
  started.push(another);
  return another.setupToken;
}

const setUp = (token: unknown, more: Record<string, unknown> = {}, options: CallOptions = {}) =>
  beckon.call("/setup", {
    credential: null,
    body: { token, name: "Ada", email: "Ada@Example.com", password, ...more },
    ...options,
  });

const expectValid = async (token: unknown) => {
  const { status } = await beckon.call("/setup/check", { credential: null, body: { token } });
  expect(status).toBe(200);
};

test("no account can be created without a link", async () => {
  for (const path of ["/sign-up", "/users", "/auth/sign-up/email"]) {
    expectError(await beckon.call(path, { credential: null, body: {} }), 404, "not_found");
  }
  expectError(await setUp("bks_guessed"), 401, "unauthorized", /used|start/);
});

test("a server that is not the supervisor's first issues no link and keeps the printed one valid", async () => {
  const token = await startAnew();
  const another = await beckon.another();
  started.push(another);
  expect(another.setupToken).toBeNull();
  await expectValid(token);
});

test("the start of a second machine issues a link of its own and keeps the first one valid", async () => {
  const first = await startAnew();
  const second = await startAnew();
  expect(second).toMatch(/^bks_/);
  expect(second).not.toBe(first);
  await expectValid(first);
  await expectValid(second);
});

test("the links of the last ten startups are valid, and earlier ones are not", async () => {
  const tokens: string[] = [];
  while (tokens.length < 11) tokens.push(await setupToken(beckon));
  const [eleventh, ...lastTen] = tokens;
  for (const token of lastTen) await expectValid(token);
  expectError(await setUp(eleventh), 401, "unauthorized", /10 later starts/);
});

test("a link that the previous version issued stays valid after an upgrade", async () => {
  const token = newCredential("bks_");
  // The previous version knows one link only.
  await beckon.db.database.engine.query("update installation set setup_hash = $1", [
    hashCredential(token),
  ]);
  await expectValid(token);
  await setupToken(beckon);
  await expectValid(token);
});

test("the link is stored as a hash", async () => {
  const token = String(await startAnew());
  const { rows } = await beckon.db.database.engine.query<{ text: string }>(
    "select row_to_json(i)::text as text from installation i",
  );
  expect(rows[0]?.text).toContain("setup_hash");
  expect(rows[0]?.text).not.toContain(token);
});

test.each(["id", "role", "workspace_id", "created_at", "email_verified"])(
  "rejects %s",
  async (member) => {
    expectError(await setUp("bks_x", { [member]: "x" }), 400, "bad_request", new RegExp(member));
  },
);

test("of concurrent uses of two links one creates the owner and the others fail like a wrong link", async () => {
  const tokens = [await startAnew(), await setupToken(beckon)];
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      setUp(tokens[index % 2], { email: `ada${index}@example.com` }),
    ),
  );
  const won = responses.filter(({ status }) => status === 200);
  expect(won).toHaveLength(1);
  for (const lost of responses.filter((response) => response !== won[0]))
    expectError(lost, 401, "unauthorized");
  const { rows } = await beckon.db.database.engine.query(
    "select u.email, m.role from users u left join members m on m.user_id = u.id",
  );
  expect(rows).toEqual([{ email: won[0]?.body.data.email, role: "owner" }]);
});

test("the first owner owns the workspace default, can sign in and is in the audit log", async () => {
  const { rows } = await beckon.db.database.engine.query<{ email: string }>(
    "select email from users",
  );
  const owner = await signIn(beckon, rows[0]?.email ?? "");
  const { body } = await owner.call("/me");
  expect(body.data.workspaces).toEqual([
    { id: "wsp_00000000000000000000000000", name: "default", role: "owner", scopes: [...scopes] },
  ]);
  const { body: audit } = await owner.call(`/audit?action=owner.create&target=${owner.id}`);
  expect(audit.data).toMatchObject([
    { actor: `user:${owner.id}`, address: expect.any(String), data: { email: owner.email } },
  ]);
});

test("after there is an owner startup issues no link", async () => {
  expect(await startAnew()).toBeNull();
});

test("a link is invalid if the workspace got an owner in another way", async () => {
  const { engine } = beckon.db.database;
  await engine.query("update members set role = 'admin'");
  const token = await startAnew();
  await engine.query("update members set role = 'owner'");
  expectError(await setUp(token, { email: "late@example.com" }), 401, "unauthorized");
});

test("a startup while there is an owner invalidates all links for good", async () => {
  const { engine } = beckon.db.database;
  const setOwners = (role: string) => engine.query("update members set role = $1", [role]);
  await setOwners("admin");
  const tokens = [await startAnew(), await setupToken(beckon)];
  await setOwners("owner");
  expect(await startAnew()).toBeNull();
  await setOwners("admin");
  for (const token of tokens)
    expectError(await setUp(token, { email: "late@example.com" }), 401, "unauthorized");
  await setOwners("owner");
});
