import { randomBytes } from "node:crypto";
import type { Role } from "@beckon/contract";
import { issueSetupToken } from "../src/workspaces/index.ts";
import type { Answer, CallOptions, TestBeckon } from "./beckon.ts";

/** Somebody who is signed in, as their browser would be. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  /** `name=value`, as a browser sends it. */
  readonly cookie: string;
  /** Calls with the cookie and from our own page. */
  call(path: string, options?: CallOptions): Promise<Answer>;
}

export const password = "correct horse battery staple";

/** A member, by an invitation of the workspace's key (default: the bootstrap key's workspace), who has signed in. */
export async function addPerson(beckon: TestBeckon, { role, key }: { role: Role; key?: string }): Promise<Person> {
  const email = `${randomBytes(6).toString("hex")}@example.com`;
  const invited = await beckon.call("/invitations", { ...(key === undefined ? {} : { credential: key }), body: { email, role } });
  const body = { token: invited.body.data.token, name: "Test", password };
  await expectOk(beckon.call("/invitations/accept", { credential: null, body }));
  return signIn(beckon, email);
}

/** The token of the link that a start prints; the one before stops. */
export async function setupToken(beckon: TestBeckon): Promise<string> {
  const token = await issueSetupToken(beckon.db.database);
  if (token === undefined) throw new Error("there is an owner already");
  return token;
}

/** Signs in. Also for a second session of the same person. */
export async function signIn(beckon: TestBeckon, email: string, given = password): Promise<Person> {
  const { headers, body } = await expectOk(beckon.call("/sign-in", { credential: null, body: { email, password: given } }));
  return { id: body.data.id, email, password: given, ...visitor(beckon, cookieIn(headers)) };
}

/** Calls as a browser does that has this cookie. */
export function visitor(beckon: TestBeckon, cookie: string): Pick<Person, "cookie" | "call"> {
  return {
    cookie,
    call: (path, { headers, ...options } = {}) =>
      beckon.call(path, { credential: null, headers: { cookie, origin: new URL(path, beckon.url).origin, ...headers }, ...options }),
  };
}

/** The cookie that an answer sets, as a browser sends it back. */
export function cookieIn(headers: Headers): string {
  return headers.getSetCookie()[0]?.split(";")[0] ?? "";
}

async function expectOk(answering: Promise<Answer>): Promise<Answer> {
  const answer = await answering;
  if (answer.status >= 400) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
}
