import { randomBytes } from "node:crypto";
import type { Role } from "@beckon/contract";
import { type Auth, addAccount, createAuth, hashPassword } from "../src/accounts/index.ts";
import { inAllWorkspaces } from "../src/base/database/index.ts";
import { parseMasterKey } from "../src/base/secrets/index.ts";
import { issueSetupToken } from "../src/workspaces/index.ts";
import type { Answer, CallOptions, TestBeckon } from "./beckon.ts";

/** A signed-in user, whose requests are like those of a browser. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  /** `name=value`, as a browser sends it. */
  readonly cookie: string;
  /** Calls Beckon with the cookie, and with Beckon's own origin in the header `Origin`. */
  call(path: string, options?: CallOptions): Promise<Answer>;
}

export const password = "correct horse battery staple";

/** All people share this hash, because hashing a password takes much CPU. */
const passwordHash = hashPassword(password, "127.0.0.1");
const auths = new WeakMap<TestBeckon, Auth>();

/**
 * Adds a signed-in member to a workspace. The invitation is issued with `key`, a key of that
 * workspace (default: the bootstrap key, for the workspace `default`). Account and session are
 * created without HTTP, because a sign-in takes as much CPU as four password hashes (`maxCompared`
 * in find-account.ts).
 */
export async function addPerson(
  beckon: TestBeckon,
  { role, key }: { role: Role; key?: string },
): Promise<Person> {
  const email = `${randomBytes(6).toString("hex")}@example.com`;
  const account = { name: "Test", email, passwordHash: await passwordHash };
  const { id } = await inAllWorkspaces(beckon.db.database.tenant, (tx) => addAccount(tx, account));
  const person = await startSession(beckon, id);
  const invited = await beckon.call("/invitations", {
    ...(key === undefined ? {} : { credential: key }),
    body: { email, role },
  });
  await expectOk(person.call("/invitations/accept", { body: { token: invited.body.data.token } }));
  return { id, email, password, ...person };
}

/** Creates a session without a sign-in. */
export async function startSession(
  beckon: TestBeckon,
  userId: string,
): Promise<Pick<Person, "cookie" | "call">> {
  const { cookies } = await authOf(beckon).startSession({
    userId,
    address: "127.0.0.1",
    userAgent: undefined,
  });
  return visitor(beckon, cookies[0]?.split(";")[0] ?? "");
}

function authOf(beckon: TestBeckon): Auth {
  const { masterKey = "", publicUrl } = beckon.config;
  const options = {
    masterKey: parseMasterKey(masterKey),
    secure: publicUrl?.startsWith("https:") === true,
  };
  const auth = auths.get(beckon) ?? createAuth({ database: beckon.db.database, ...options });
  auths.set(beckon, auth);
  return auth;
}

/**
 * Issues a token for a setup link, as startup does.
 * @throws {Error} the installation has an owner already.
 */
export async function setupToken(beckon: TestBeckon): Promise<string> {
  const token = await issueSetupToken(beckon.db.database);
  if (token === undefined) throw new Error("the installation already has an owner");
  return token;
}

/** Signs in. A second call opens a second session of the same account. */
export async function signIn(beckon: TestBeckon, email: string, given = password): Promise<Person> {
  const { headers, body } = await expectOk(
    beckon.call("/sign-in", { credential: null, body: { email, password: given } }),
  );
  return { id: body.data.id, email, password: given, ...visitor(beckon, cookieIn(headers)) };
}

/** Returns a caller that sends this cookie and the origin, as a browser does. */
export function visitor(beckon: TestBeckon, cookie: string): Pick<Person, "cookie" | "call"> {
  return {
    cookie,
    call: (path, { headers, ...options } = {}) =>
      beckon.call(path, {
        credential: null,
        headers: { cookie, origin: new URL(path, beckon.url).origin, ...headers },
        ...options,
      }),
  };
}

/** Returns the cookie that a response sets, as a browser sends it back. */
export function cookieIn(headers: Headers): string {
  return headers.getSetCookie()[0]?.split(";")[0] ?? "";
}

async function expectOk(answering: Promise<Answer>): Promise<Answer> {
  const answer = await answering;
  if (answer.status >= 400)
    throw new Error(`returned ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
}
