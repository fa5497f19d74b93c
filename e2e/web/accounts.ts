import { password } from "../../server/test/people.ts";

/** A user with a session. Both are created over the public API. */
export interface SignedIn {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  /** The session, as `name=value`. */
  readonly cookie: string;
  /** The first workspace of the user. */
  readonly workspaceId: string;
}

/**
 * Creates the first owner and signs in.
 * @param token of the setup link that startup prints
 */
export async function createOwner(
  url: string,
  token: string,
  { name = "Ada", email = "ada@example.com" } = {},
): Promise<SignedIn> {
  await post(`${url}/api/public/setup`, { token, name, email, password });
  return signIn(url, { name, email });
}

/**
 * Signs in with the password that all users of tests have. A second call opens a second session.
 */
export async function signIn(
  url: string,
  { name, email }: Pick<SignedIn, "name" | "email">,
): Promise<SignedIn> {
  const response = await post(`${url}/api/public/sign-in`, { email, password });
  const [cookie = ""] = response.headers.getSetCookie()[0]?.split(";") ?? [];
  const me = await fetch(`${url}/api/public/me`, { headers: { cookie } });
  const { data } = (await me.json()) as { data: { workspaces: { id: string }[] } };
  return { name, email, password, cookie, workspaceId: data.workspaces[0]?.id ?? "" };
}

async function post(url: string, body: unknown): Promise<Response> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", origin: new URL(url).origin },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url} returned ${response.status}: ${await response.text()}`);
  return response;
}
