import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { captureLog } from "../../test/capture-log.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson, cookieIn, type Person, password, signIn, visitor } from "../../test/people.ts";
import { createFailedSignIns } from "./failed-sign-ins.ts";

/** Tests which sessions a change of the password deletes and starts. */

const beckon = await startTestBeckon();
const next = "a password of their own choosing";
const change = (person: Person, current = password) =>
  person.call("/password", { body: { current_password: current, new_password: next } });
const countSessions = async (person: Person) => {
  const { rows } = await beckon.db.database.engine.query<{ count: number }>(
    "select count(*)::int from sessions where user_id = $1",
    [person.id],
  );
  return rows[0]?.count;
};

test("a change of the password deletes all sessions and starts a new one", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  const second = await signIn(beckon, person.email);
  const { status, headers } = await change(person);
  expect(status).toBe(204);
  // The same attributes as those of a sign-in.
  expect(headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^beckon\.session_token=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/,
    ),
  ]);
  for (const ended of [person, second]) expectError(await ended.call("/me"), 401, "unauthorized");
  const current = visitor(beckon, cookieIn(headers));
  expect((await current.call("/me")).body.data.id).toBe(person.id);
  expect((await current.call("/sessions")).body.data).toMatchObject([{ current: true }]);
  const given = { email: person.email, password };
  expectError(
    await beckon.call("/sign-in", { credential: null, body: given }),
    401,
    "unauthorized",
  );
  await signIn(beckon, person.email, next);
  expect(
    (await beckon.call(`/audit?action=password.change&target=${person.id}`)).body.data,
  ).toHaveLength(1);
});

test("a change with a wrong current password neither deletes nor starts a session", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  const response = await change(person, "not the password");
  expectError(response, 401, "unauthorized");
  expect(response.headers.getSetCookie()).toEqual([]);
  expect((await person.call("/me")).status).toBe(200);
  expect(await countSessions(person)).toBe(1);
});

/** Waits until `count` wrong current passwords of the person are in the audit log. */
const rejections = (person: Person, count: number) =>
  eventually("entries of the audit log", async () => {
    const { body } = await beckon.call(`/audit?action=password.refuse&target=${person.id}`);
    return body.data.length >= count ? (body.data as object[]) : undefined;
  });

test("a wrong current password is in the audit log", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  await change(person, "not the password");
  expect(await rejections(person, 1)).toMatchObject([
    { actor: `user:${person.id}`, address: "127.0.0.1" },
  ]);
});

test("of many wrong passwords that a person sends at once, ten are in the audit log", async () => {
  const [person, other] = [
    await addPerson(beckon, { role: "viewer" }),
    await addPerson(beckon, { role: "viewer" }),
  ];
  const recorder = createFailedSignIns(beckon.db.database, captureLog().log);
  for (let attempt = 0; attempt < 15; attempt++)
    recorder.noteSignedIn({ userId: person.id, address: "203.0.113.1" });
  await rejections(person, 10);
  recorder.noteSignedIn({ userId: other.id, address: "203.0.113.1" });
  await rejections(other, 1);
  expect(await rejections(person, 10)).toHaveLength(10);
});

test("concurrent changes of the password leave one session", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  const responses = await Promise.all([change(person), change(person), change(person)]);
  const [changed, ...others] = responses.filter(({ status }) => status === 204);
  expect(others).toEqual([]);
  expect(await countSessions(person)).toBe(1);
  const current = visitor(beckon, cookieIn(changed?.headers ?? new Headers()));
  expect((await current.call("/me")).status).toBe(200);
});
