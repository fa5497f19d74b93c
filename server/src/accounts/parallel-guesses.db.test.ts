import { beforeEach, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { addPerson, password } from "../../test/people.ts";
import { ApiError } from "../base/errors.ts";
import { acceptInvitation } from "../members/index.ts";
import { changePassword, createAuth, type SignedIn, signIn } from "./index.ts";

/**
 * Tests what happens to a request if other requests reach the limit of failed attempts while
 * Beckon compares the request's password.
 */

const beckon = await startTestBeckon();
const { database } = beckon.db;
const person = await addPerson(beckon, { role: "viewer" });

let isLimitReached = false;
beforeEach(() => {
  isLimitReached = false;
});
const ctx: SignedIn = {
  database,
  auth: createAuth({ database, masterKey: Buffer.alloc(32), secure: false }),
  address: "203.0.113.1",
  userAgent: undefined,
  failedAttempts: {
    permit() {
      if (isLimitReached) throw new ApiError("too_many_requests", "The limit is reached.");
    },
    count: (message) => new ApiError("unauthorized", message),
    countSucceeding() {},
  },
  failedSignIns: { note() {}, noteSignedIn() {} },
  userId: person.id,
  sessionId: "ses_none",
};
const body = (value: object) => ({ body: { ok: true, value } }) as const;
const { email } = person;

/**
 * Returns the numbers of sessions and memberships, and the password hash. Tests compare them before
 * and after an attempt.
 */
async function state() {
  const { rows } = await database.engine.query(
    `select (select count(*)::int from sessions) as sessions,
      (select count(*)::int from members) as members,
      (select password from accounts where user_id = $1) as password`,
    [person.id],
  );
  return rows[0];
}

test.each<[string, () => Promise<unknown>]>([
  ["sign-in", () => signIn({ ctx, input: body({ email, password }) })],
  [
    "a change of the password",
    () =>
      changePassword({
        ctx,
        input: body({ current_password: password, new_password: "another correct horse" }),
      }),
  ],
])("%s with the correct password is then rejected", async (_what, attempt) => {
  const before = await state();
  const result = attempt();
  isLimitReached = true;
  await expect(result).rejects.toMatchObject({ code: "too_many_requests" });
  expect(await state()).toEqual(before);
});

test("an invitation is then rejected with any password, and stays valid", async () => {
  const workspace = await beckon.call("/workspaces", { body: { name: "Other" } });
  const invited = await beckon.call("/invitations", {
    credential: workspace.body.data.key,
    body: { email, role: "viewer" },
  });
  const accept = (given: string) =>
    acceptInvitation({
      ctx,
      input: {
        ...body({ token: invited.body.data.token, name: "Guest", email, password: given }),
        signedIn: async () => undefined,
      },
    });
  const before = await state();
  for (const given of [password, "not the password"]) {
    isLimitReached = false;
    const result = accept(given);
    isLimitReached = true;
    await expect(result).rejects.toMatchObject({ code: "too_many_requests" });
  }
  expect(await state()).toEqual(before);
  isLimitReached = false;
  expect(await accept(password)).toMatchObject({ id: person.id });
});
