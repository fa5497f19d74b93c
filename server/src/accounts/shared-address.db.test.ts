import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { cookieIn, password, visitor } from "../../test/people.ts";
import { inAllWorkspaces } from "../base/database/index.ts";
import { addMember } from "../members/index.ts";
import { defaultWorkspaceId } from "../workspaces/index.ts";
import { addAccount, hashPassword } from "./index.ts";

/** Several accounts can have the same e-mail: see docs/decisions/0013-an-address-is-a-label.md. */

const beckon = await startTestBeckon({ BECKON_TRUST_PROXY: "1" });
let addresses = 0;
/** Failed attempts are counted by IP address, so each request has its own address. */
const open = (path: string, body: unknown) =>
  beckon.call(path, {
    credential: null,
    body,
    headers: { "x-forwarded-for": `198.51.100.${++addresses}` },
  });
const newWorkspace = async (): Promise<{ id: string; key: string }> =>
  (await beckon.call("/workspaces", { body: { name: "Test" } })).body.data;
const invite = async (key: string, email: string, role = "viewer"): Promise<string> =>
  (await beckon.call("/invitations", { credential: key, body: { email, role } })).body.data.token;
const accept = (token: string, body: Record<string, unknown>) =>
  open("/invitations/accept", { token, ...body });
const signIn = (email: string, given: string, workspace?: string) =>
  open("/sign-in", {
    email,
    password: given,
    ...(workspace === undefined ? {} : { workspace_id: workspace }),
  });
const squatted = (index: number) => `the squatter's password ${index}`;

/** Creates accounts with the e-mail in other workspaces. */
async function squat(email: string, times: number): Promise<string[]> {
  const workspaces: string[] = [];
  for (let index = 0; index < times; index++) {
    const { id: workspaceId } = await newWorkspace();
    const passwordHash = await hashPassword(squatted(index), `198.51.100.${index}`);
    await inAllWorkspaces(beckon.db.database.tenant, async (tx) => {
      const { id } = await addAccount(tx, { name: "Squatter", email, passwordHash });
      await addMember(tx, { userId: id, workspaceId, role: "owner" });
    });
    workspaces.push(workspaceId);
  }
  return workspaces;
}

describe("an e-mail that other accounts have too", () => {
  test("does not prevent joining a workspace or resetting the password", async () => {
    const email = "ceo@example.com";
    const [theirs = ""] = await squat(email, 1);
    const joined = await accept(await invite(beckon.key, email, "owner"), {
      name: "Ceo",
      password,
    });
    expect([joined.status, joined.body.data]).toEqual([
      200,
      expect.objectContaining({ email, workspace_id: defaultWorkspaceId }),
    ]);
    const own = await signIn(email, password);
    expect(own.body.data.id).toBe(joined.body.data.id);
    const squatter = await signIn(email, squatted(0));
    expect(squatter.body.data.id).not.toBe(joined.body.data.id);
    const me = (response: typeof own) => visitor(beckon, cookieIn(response.headers)).call("/me");
    expect((await me(squatter)).body.data.workspaces.map(({ id }: { id: string }) => id)).toEqual([
      theirs,
    ]);
    expect((await me(own)).body.data.workspaces.map(({ id }: { id: string }) => id)).toEqual([
      defaultWorkspaceId,
    ]);
    const link = await beckon.call(`/members/${joined.body.data.id}/reset-link`, {
      method: "POST",
    });
    expect(
      (
        await open("/password/reset", {
          token: link.body.data.token,
          new_password: "another correct horse",
        })
      ).status,
    ).toBe(204);
    expect((await signIn(email, squatted(0))).status).toBe(200);
    expectError(
      await beckon.call(`/members/${squatter.body.data.id}/reset-link`, { method: "POST" }),
      404,
      "not_found",
    );
  });

  test("four times and more allows sign-in with workspace_id", async () => {
    const email = "often@example.com";
    const [first = ""] = await squat(email, 4);
    const { id, key } = await newWorkspace();
    const joined = await accept(await invite(key, email), { name: "Member", password });
    const response = await signIn(email, password);
    expectError(response, 401, "unauthorized", /workspace_id/);
    expect((await signIn(email, password, id)).body.data.id).toBe(joined.body.data.id);
    const unknown = await signIn("nobody@example.com", password);
    for (const wrong of [
      await signIn(email, password, first),
      await signIn(email, password, "wsp_none"),
    ]) {
      expect(wrong.body).toEqual(response.body);
    }
    expect(unknown.body).toEqual(response.body);
    expect((await signIn(email, squatted(3))).status).toBe(200);
    const preferring = (given: string) =>
      open("/sign-in", { email, password: given, preferred_workspace_id: id });
    expect((await preferring(password)).body.data.id).toBe(joined.body.data.id);
    expect((await preferring(squatted(3))).status).toBe(200);
    // A failure counts once, and the entries do not show the address: at most one of these
    // workspaces is that of the person.
    const refused = async () =>
      (await beckon.call("/audit?action=session.refuse", { credential: key })).body.data;
    const { length } = await refused();
    const failed = await preferring("a guess");
    expect([failed.body, failed.headers.get("ratelimit")]).toEqual([
      response.body,
      expect.stringContaining("r=29"),
    ]);
    const entry = await eventually("the record", async () => {
      const all = await refused();
      return all.length > length ? all : undefined;
    });
    expect([entry.length, entry[0].address]).toEqual([length + 1, null]);
  });
});

test("of two accounts with the same e-mail and password the older one signs in, the other with workspace_id", async () => {
  const email = "twice@example.com";
  const [one, two] = [await newWorkspace(), await newWorkspace()];
  const first = await accept(await invite(one.key, email), { name: "First", password });
  const second = await accept(await invite(two.key, email), {
    name: "Second",
    password: "another correct horse",
  });
  const session = visitor(beckon, cookieIn((await signIn(email, "another correct horse")).headers));
  await session.call("/password", {
    body: { current_password: "another correct horse", new_password: password },
  });
  expect((await signIn(email, password)).body.data.id).toBe(first.body.data.id);
  expect((await signIn(email, password, two.id)).body.data.id).toBe(second.body.data.id);
});

describe("an invitation", () => {
  test("can be accepted with another e-mail", async () => {
    const token = await invite(beckon.key, "label@example.com");
    const response = await accept(token, { name: "Grace", email: "Grace@Example.com", password });
    expect(response.body.data).toMatchObject({ email: "grace@example.com" });
    const { body } = await beckon.call(
      `/audit?action=invitation.accept&actor=user:${response.body.data.id}`,
    );
    expect(body.data).toMatchObject([
      { data: { email: "grace@example.com", invited: "label@example.com" } },
    ]);
    expectError(await signIn("label@example.com", password), 401, "unauthorized");
  });

  test("can be accepted by an account with another e-mail, with its password or session", async () => {
    const [one, two, three] = [await newWorkspace(), await newWorkspace(), await newWorkspace()];
    const email = "known@example.com";
    const { id } = (await accept(await invite(one.key, email), { name: "Known", password })).body
      .data;
    expect(
      (await accept(await invite(two.key, "x@example.com"), { email, password })).body.data.id,
    ).toBe(id);
    const session = visitor(beckon, cookieIn((await signIn(email, password)).headers));
    const body = { token: await invite(three.key, "x@example.com") };
    expect((await session.call("/invitations/accept", { body })).body.data).toMatchObject({
      id,
      email,
      workspace_id: three.id,
    });
  });

  test("is accepted by the account in the body, even if another one is signed in", async () => {
    const [one, two] = [await newWorkspace(), await newWorkspace()];
    const signedIn = await accept(await invite(one.key, "host@example.com"), {
      name: "Host",
      password,
    });
    const session = visitor(beckon, cookieIn((await signIn("host@example.com", password)).headers));
    const body = {
      token: await invite(two.key, "visitor@example.com"),
      name: "Visitor",
      password: "the visitor's own password",
    };
    const { data } = (await session.call("/invitations/accept", { body })).body;
    expect([data.email, data.id === signedIn.body.data.id]).toEqual(["visitor@example.com", false]);
  });

  test("cannot be accepted by a second member with the same e-mail, and stays open", async () => {
    const { key } = await newWorkspace();
    const email = "same@example.com";
    await accept(await invite(key, email), { name: "First", password });
    const token = await invite(key, "other@example.com");
    const rejected = await accept(token, {
      name: "Second",
      email,
      password: "another correct horse",
    });
    expectError(rejected, 409, "conflict", /Another member.*same@example\.com/);
    expect((await accept(token, { name: "Second", password })).status).toBe(200);
  });

  test("is accepted by one of many concurrent requests with the same e-mail", async () => {
    const { key } = await newWorkspace();
    const tokens: string[] = [];
    for (let index = 0; index < 4; index++)
      tokens.push(await invite(key, `many${index}@example.com`));
    const responses = await Promise.all(
      tokens.map((token, index) =>
        accept(token, {
          name: "Guest",
          email: "one@example.com",
          password: `${password} ${index}`,
        }),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });
});

test("a wrong password together with a name counts as a failed sign-in if the e-mail has an account", async () => {
  const email = "guessed@example.com";
  const { id } = (await accept(await invite(beckon.key, email), { name: "Guessed", password })).body
    .data;
  const { key } = await newWorkspace();
  const from = { "x-forwarded-for": "203.0.113.77" };
  // Makes 29 failed attempts, one below the limit of an IP address. Invalid links count like wrong
  // passwords, but need no hash and are therefore faster.
  const wrong = { token: "wrong", new_password: password };
  for (let count = 0; count < 29; count++)
    await beckon.call("/password/reset", { credential: null, body: wrong, headers: from });
  const body = {
    token: await invite(key, email),
    name: "Guesser",
    password: "a guess of the password",
  };
  expect(
    (await beckon.call("/invitations/accept", { credential: null, body, headers: from })).status,
  ).toBe(200);
  const rejected = await beckon.call("/sign-in", {
    credential: null,
    body: { email, password },
    headers: from,
  });
  expectError(rejected, 429, "too_many_requests");
  await eventually("a record", async () => {
    const { body: found } = await beckon.call(`/audit?action=session.refuse&target=${id}`);
    return found.data.length > 0 ? found : undefined;
  });
});

test("joining with a new account counts the same whether the e-mail has an account or not", async () => {
  const known = "counted@example.com";
  await accept(await invite(beckon.key, known), { name: "Counted", password });
  const { key } = await newWorkspace();
  const limits: (string | null)[] = [];
  for (const [email, address] of [
    [known, "203.0.113.90"],
    ["uncounted@example.com", "203.0.113.91"],
  ]) {
    const from = { "x-forwarded-for": address ?? "" };
    const body = { token: await invite(key, `x${address}@example.com`), name: "New", email };
    const joined = await beckon.call("/invitations/accept", {
      credential: null,
      body: { ...body, password: "a password of their own" },
      headers: from,
    });
    expect(joined.status).toBe(200);
    const wrong = { token: "wrong", new_password: password };
    const failed = await beckon.call("/password/reset", {
      credential: null,
      body: wrong,
      headers: from,
    });
    limits.push(failed.headers.get("ratelimit")?.replace(/t=\d+/, "") ?? null);
  }
  expect(limits).toEqual([expect.stringContaining("r=28"), limits[0]]);
});

test("a failed sign-in shows the client's IP address only to the workspace that it names", async () => {
  const email = "watched@example.com";
  const [one, two] = [await newWorkspace(), await newWorkspace()];
  await accept(await invite(one.key, email), { name: "First", password });
  await accept(await invite(two.key, email), { name: "Second", password: "another password" });
  const fail = (address: string, workspace: object) =>
    beckon.call("/sign-in", {
      credential: null,
      body: { email, password: "a guess", ...workspace },
      headers: { "x-forwarded-for": address },
    });
  const listed = async (key: string): Promise<(string | null)[]> => {
    const { body } = await beckon.call("/audit?action=session.refuse", { credential: key });
    return body.data.map(({ address }: { address: string | null }) => address);
  };
  const addressesIn = (key: string, count: number) =>
    eventually("the records", async () => {
      const found = await listed(key);
      return found.length === count ? found : undefined;
    });
  // The second person's password was compared with that of the first. The entry is written later,
  // so it can also be for the second account.
  expect(await addressesIn(one.key, 1)).toEqual([null]);
  const count = (await listed(two.key)).length;
  await fail("203.0.113.80", {});
  expect(await addressesIn(one.key, 2)).toEqual([null, null]);
  const ofTwo = await addressesIn(two.key, count + 1);
  expect(ofTwo.every((address) => address === null)).toBe(true);
  await fail("203.0.113.81", { workspace_id: one.id });
  expect(await addressesIn(one.key, 3)).toEqual(["203.0.113.81", null, null]);
  expect(await listed(two.key)).toEqual(ofTwo);
});

test("the first owner can have the e-mail of an account, but not that of a member", async () => {
  const elsewhere = "ada@example.com";
  await squat(elsewhere, 1);
  const member = (
    await accept(await invite(beckon.key, "bob@example.com"), { name: "Bob", password })
  ).body.data;
  await beckon.db.database.engine.query(
    "update members set role = 'admin' where role = 'owner' and workspace_id = $1",
    [defaultWorkspaceId],
  );
  const another = await beckon.another({ setup: true });
  const setUp = (email: string) =>
    open("/setup", { token: another.setupToken, name: "Ada", email, password });
  expectError(await setUp(member.email), 409, "conflict", /Another member/);
  expect((await setUp(elsewhere)).status).toBe(200);
  await another.stop();
});
