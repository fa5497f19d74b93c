import { type Role, roleScopes, role as roles, type Scope } from "@beckon/contract";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { addPerson, type Person, password, startSession } from "../../test/people.ts";
import { defaultWorkspaceId } from "../workspaces/index.ts";

/**
 * Issues a link, makes random changes and then uses the link. The result is compared with a small
 * model: a link works if and only if its issuer could issue it now and no change has deleted it.
 */

const beckon = await startTestBeckon({ BECKON_TRUST_PROXY: "1" });
const { engine } = beckon.db.database;
let addresses = 0;
/** A new IP address, because the number of requests with invalid links per address is limited. */
const from = () => ({
  "x-forwarded-for": `198.51.${Math.floor(++addresses / 250)}.${addresses % 250}`,
});

interface Workspace {
  readonly id: string;
  /** Secret of a key with all scopes. The test uses it for changes, and never to issue links. */
  readonly key: string;
}
const newWorkspace = async (): Promise<Workspace> =>
  (await beckon.call("/workspaces", { body: { name: "Test" } })).body.data;
const first: Workspace = { id: defaultWorkspaceId, key: beckon.key };
const workspaces = [first, await newWorkspace(), await newWorkspace()] as const;
// Each workspace gets an owner who stays, because Beckon would not let the last owner be removed.
for (const { key } of workspaces) await addPerson(beckon, { role: "owner", key });

const names = ["issuer", "target", "guest"] as const;
type Name = (typeof names)[number];
const people: Record<Name, Person> = {
  issuer: await addPerson(beckon, { role: "viewer" }),
  target: await addPerson(beckon, { role: "viewer" }),
  guest: await addPerson(beckon, { role: "viewer" }),
};

/** The state of the model: roles by workspace and person, and the issuing key. */
interface Model {
  readonly role: Map<string, Role>;
  key: { exists: boolean; expired: boolean; scopes: readonly string[] };
}
const memberKey = (workspace: Workspace, name: Name) => `${workspace.id} ${name}`;

const changes = [
  ...(["issuer", "target"] as const).flatMap((name) =>
    workspaces.flatMap((_, workspace) => [
      ...roles.options.map((role) => ({ kind: "role", name, workspace, role }) as const),
      { kind: "remove", name, workspace } as const,
      { kind: "join", name, workspace, role: "owner" } as const,
      { kind: "join", name, workspace, role: "viewer" } as const,
    ]),
  ),
  { kind: "key expires" },
  { kind: "key is extended" },
  { kind: "key loses scopes" },
  { kind: "key gets all scopes" },
  { kind: "key is rotated" },
  { kind: "key is deleted" },
  { kind: "workspace is renamed" },
] as const;
type Change = (typeof changes)[number];

const scenario = fc.record({
  link: fc.oneof(fc.constant("reset" as const), fc.constantFrom(...roles.options)),
  by: fc.constantFrom("user", "key"),
  /** Index of the workspace of the link: the issuer is an owner there, and the target a member. */
  workspace: fc.nat(workspaces.length - 1),
  /** Further workspaces: `owned` by the issuer, and `joined` by the target. */
  owned: fc.uniqueArray(fc.nat(workspaces.length - 1)),
  joined: fc.uniqueArray(fc.nat(workspaces.length - 1)),
  changes: fc.array(fc.constantFrom(...changes), { maxLength: 4 }),
});

test("a link works if and only if its issuer could issue it now, after any changes", {
  timeout: 600_000,
}, async () => {
  const used = { yes: 0, no: 0 };
  const property = fc.asyncProperty(scenario, async (given) => {
    const home = at(given.workspace);
    const model = await setUpScenario(given, home);
    const link = await issue(given, home, model);
    if (link === undefined) {
      expect(given.link === "reset" && isTargetElsewhere(model, given, home)).toBe(true);
      return;
    }
    let dropped = false;
    for (const change of given.changes) {
      const changed = await make(change, home, model, link.keyId);
      if (given.link === "reset") dropped ||= changed === "target";
      // An invitation is deleted when the person who issued it loses the right to issue it. An
      // invitation that a key issued stays, and is valid again when the key has that right again.
      else dropped ||= given.by === "user" && changed === "issuer" && !canIssue(model, given, home);
    }
    const expected = !dropped && canIssue(model, given, home);
    const status = await use(given.link, link.token);
    expect(status).toBe(expected ? (given.link === "reset" ? 204 : 200) : 401);
    used[expected ? "yes" : "no"]++;
    if (given.link === "reset" && expected)
      people.target = { ...people.target, ...(await startSession(beckon, people.target.id)) };
  });
  await fc.assert(property, { numRuns: 50 });
  // At least one link must have worked, and at least one must have been rejected.
  expect([used.yes, used.no]).toEqual([
    expect.toSatisfy((count) => count > 0),
    expect.toSatisfy((count) => count > 0),
  ]);
});

type Given = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

function at(index: number): Workspace {
  const workspace = workspaces[index];
  if (workspace === undefined) throw new Error("there is no such workspace");
  return workspace;
}

/** Whether the issuer could issue the link in the model's state. */
function canIssue(model: Model, given: Given, home: Workspace): boolean {
  const own = scopesOf(model, given, home);
  if (given.link !== "reset")
    return [...roleScopes[given.link], "members:write"].every((scope) => own.includes(scope));
  return (
    own.includes("workspaces:own") &&
    model.role.has(memberKey(home, "target")) &&
    !isTargetElsewhere(model, given, home)
  );
}

function scopesOf(model: Model, given: Given, home: Workspace): readonly (string | Scope)[] {
  if (given.by === "key") return model.key.exists && !model.key.expired ? model.key.scopes : [];
  const role = model.role.get(memberKey(home, "issuer"));
  return role === undefined ? [] : roleScopes[role];
}

/**
 * Whether the target is a member of a workspace that the issuer does not own. Issuers in the
 * workspace `default` are exempt.
 */
function isTargetElsewhere(model: Model, given: Given, home: Workspace): boolean {
  if (home === first) return false;
  return workspaces.some(
    (each) =>
      each !== home &&
      model.role.has(memberKey(each, "target")) &&
      !(given.by === "user" && model.role.get(memberKey(each, "issuer")) === "owner"),
  );
}

/**
 * Replaces the memberships of the three people by those of the scenario, and deletes all links.
 * Returns the state of the model.
 */
async function setUpScenario(given: Given, home: Workspace): Promise<Model> {
  const ids = names.map((name) => people[name].id);
  await engine.query("delete from members where user_id = any($1)", [ids]);
  await engine.query("delete from password_resets where user_id = any($1)", [ids]);
  await engine.query("delete from invitations");
  const model: Model = {
    role: new Map(),
    key: { exists: true, expired: false, scopes: roleScopes.owner },
  };
  const members: [Workspace, Name, Role][] = [
    ...[home, ...given.owned.map(at)].map((workspace): [Workspace, Name, Role] => [
      workspace,
      "issuer",
      "owner",
    ]),
    ...[home, ...given.joined.map(at)].map((workspace): [Workspace, Name, Role] => [
      workspace,
      "target",
      "viewer",
    ]),
  ];
  for (const [workspace, name, role] of members) {
    model.role.set(memberKey(workspace, name), role);
    const row = [people[name].id, workspace.id, role];
    await engine.query(
      "insert into members (user_id, workspace_id, role) values ($1, $2, $3) on conflict do nothing",
      row,
    );
  }
  return model;
}

/** Issues the link. @returns undefined if the request was rejected. */
async function issue(
  given: Given,
  home: Workspace,
  model: Model,
): Promise<{ token: string; keyId: string } | undefined> {
  const made = await beckon.call("/keys", {
    credential: home.key,
    body: { name: "Issuer", preset: "everything" },
  });
  const { id: keyId, key } = made.body.data;
  const path = given.link === "reset" ? `/members/${people.target.id}/reset-link` : "/invitations";
  const body =
    given.link === "reset" ? {} : { email: `label${++addresses}@example.com`, role: given.link };
  const response =
    given.by === "key"
      ? await beckon.call(path, { credential: key, body })
      : await people.issuer.call(path, { body, headers: { "beckon-workspace": home.id } });
  expect(response.status < 300).toBe(canIssue(model, given, home));
  return response.status < 300 ? { token: response.body.data.token, keyId } : undefined;
}

/**
 * Makes a change if it is possible in the current state, over HTTP if there is a route for it.
 * @returns The person whose membership or role changed; undefined if none changed.
 */
async function make(
  change: Change,
  home: Workspace,
  model: Model,
  keyId: string,
): Promise<Name | undefined> {
  const { key } = model;
  const patch = async (body: unknown) =>
    key.exists &&
    expect(
      (await beckon.call(`/keys/${keyId}`, { method: "PATCH", credential: home.key, body })).status,
    ).toBe(200);
  switch (change.kind) {
    case "role":
    case "remove":
    case "join":
      return changeMember(change, model);
    case "key expires":
      await engine.query("update keys set expires_at = now() - interval '1 second' where id = $1", [
        keyId,
      ]);
      key.expired = true;
      return undefined;
    case "key is extended":
      await patch({ expires_in_days: 1 });
      key.expired = false;
      return undefined;
    case "key loses scopes":
      key.scopes = [...roleScopes.viewer, "members:write"];
      await patch({ scopes: key.scopes });
      return undefined;
    case "key gets all scopes":
      key.scopes = roleScopes.owner;
      await patch({ scopes: key.scopes });
      return undefined;
    case "key is rotated":
      await beckon.call(`/keys/${keyId}/rotate`, { method: "POST", credential: home.key });
      return undefined;
    case "key is deleted":
      await beckon.call(`/keys/${keyId}`, { method: "DELETE", credential: home.key });
      key.exists = false;
      return undefined;
    case "workspace is renamed":
      await beckon.call(`/workspaces/${home.id}`, {
        method: "PATCH",
        credential: home.key,
        body: { name: "Renamed" },
      });
      return undefined;
  }
}

async function changeMember(
  change: Extract<Change, { name: Name }>,
  model: Model,
): Promise<Name | undefined> {
  const { kind, name } = change;
  const [workspace, person] = [at(change.workspace), people[name]];
  const isMember = model.role.has(memberKey(workspace, name));
  if (isMember === (kind === "join")) return undefined;
  const path = `/members/${person.id}`;
  if (kind === "remove") {
    expect((await beckon.call(path, { method: "DELETE", credential: workspace.key })).status).toBe(
      204,
    );
    model.role.delete(memberKey(workspace, name));
    return name;
  }
  const previous = model.role.get(memberKey(workspace, name));
  model.role.set(memberKey(workspace, name), change.role);
  if (kind === "role") {
    const body = { role: change.role };
    expect(
      (await beckon.call(path, { method: "PATCH", credential: workspace.key, body })).status,
    ).toBe(200);
    return change.role === previous ? undefined : name;
  }
  const invitation = { email: `label${++addresses}@example.com`, role: change.role };
  const { body } = await beckon.call("/invitations", {
    credential: workspace.key,
    body: invitation,
  });
  expect(
    (await person.call("/invitations/accept", { body: { token: body.data.token } })).status,
  ).toBe(200);
  return name;
}

/** Uses a reset link without a session, or an invitation with the session of `guest`. */
async function use(link: Given["link"], token: string): Promise<number> {
  if (link === "reset") {
    const body = { token, new_password: password };
    return (await beckon.call("/password/reset", { credential: null, body, headers: from() }))
      .status;
  }
  return (await people.guest.call("/invitations/accept", { body: { token }, headers: from() }))
    .status;
}
