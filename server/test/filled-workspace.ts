import { randomBytes } from "node:crypto";
import { afterAll } from "vitest";
import { defaultWorkspaceId } from "../src/workspaces/index.ts";
import type { TestBeckon } from "./beckon.ts";
import { eventually } from "./eventually.ts";
import { echo, held, startModelServer } from "./model-server.ts";
import { addPerson, type Person } from "./people.ts";

/** A workspace with two of everything, and one of each to name. */
export interface FilledWorkspace {
  readonly id: string;
  /** May do everything in it, and nothing elsewhere. */
  readonly key: string;
  /** Members of this workspace alone. */
  readonly owner: Person;
  readonly viewer: Person;
  readonly agent: { readonly id: string; readonly token: string };
  readonly deletedAgentId: string;
  readonly trigger: { readonly id: string; readonly url: string };
  readonly provider: { readonly id: string; readonly name: string };
  /** Of a tool of the agent. */
  readonly secretId: string;
  /** Of the agent, and over. */
  readonly runId: string;
  /** Of these runs one is at its model until the file ends, and one waits for it. */
  readonly busy: { readonly agentId: string; readonly runIds: readonly string[] };
  readonly keyId: string;
  readonly invitationId: string;
  /** Of the owner. */
  readonly sessionId: string;
  /** Stands in names, descriptions and inputs. */
  readonly mark: string;
}

/** Two filled workspaces: `default` and another. */
export async function fillTwoWorkspaces(
  beckon: TestBeckon,
): Promise<readonly [FilledWorkspace, FilledWorkspace]> {
  const { data } = (await beckon.call("/workspaces", { body: { name: "Second" } })).body;
  return [
    await fillWorkspace(beckon, { id: defaultWorkspaceId, key: beckon.key }),
    await fillWorkspace(beckon, data),
  ];
}

async function fillWorkspace(
  beckon: TestBeckon,
  { id, key }: { id: string; key: string },
): Promise<FilledWorkspace> {
  const mark = `mark-${randomBytes(6).toString("hex")}`;
  const call = (path: string, body?: unknown, method?: string) =>
    beckon.call(path, {
      credential: key,
      body,
      ...(method === undefined ? {} : { method }),
      headers: { "idempotency-key": `${path} ${mark}` },
    });
  const made = async (path: string, body?: unknown, method?: string) => {
    const answer = await call(path, body, method);
    if (answer.status >= 400)
      throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body?.data;
  };
  const model = await startModelServer();
  const released = Promise.withResolvers<void>();
  model.script(held(released.promise, echo()));
  afterAll(async () => {
    released.resolve();
    await model.close();
  });
  const { host } = new URL(model.url);
  const provider = await made("/providers", {
    name: mark,
    kind: "openai-compatible",
    base_url: model.url,
    api_key: `sk-${mark}-0123456789`,
  });
  await beckon.call("/providers", {
    credential: key,
    body: { name: `${mark}-2`, kind: "openai-compatible", base_url: model.url },
  });
  const tool = {
    type: "http",
    name: "shop",
    allowed_hosts: [host],
    headers: { Authorization: { secret: `tool-secret-${mark}` } },
    operations: [
      { name: "read", description: "Reads", method: "GET", url: `http://${host}/orders` },
    ],
  };
  const agent = await made("/agents", {
    name: mark,
    description: mark,
    model: "demo/echo",
    tools: [tool],
  });
  const [kept] = (
    await made(`/agents/${agent.id}`, { instructions: mark, metadata: { mark } }, "PATCH")
  ).tools;
  const secretId = kept.headers.Authorization.secret_id;
  const { id: deletedAgentId } = (
    await beckon.call("/agents", { credential: key, body: { name: mark, model: `${mark}/large` } })
  ).body.data;
  await made(`/agents/${deletedAgentId}/pause`, { reason: mark });
  await made(`/agents/${deletedAgentId}`, undefined, "DELETE");
  const slow = { name: `${mark}-2`, model: `${mark}/large`, limits: { max_concurrent_runs: 1 } };
  const { data: busyAgent } = (await beckon.call("/agents", { credential: key, body: slow })).body;
  const start = async () =>
    (await beckon.invoke(busyAgent, mark, { prefer: "respond-async" })).body.run_id as string;
  const busy = { agentId: busyAgent.id, runIds: [await start(), await start()] };
  await eventually("the run at its model", () => model.requests.length || undefined);
  const trigger = await made(`/agents/${agent.id}/triggers`, { name: mark, prompt_prefix: mark });
  await beckon.call(`/agents/${agent.id}/triggers`, {
    credential: key,
    body: { name: `${mark}-2` },
  });
  // Long enough to be kept beside the event as an artifact.
  const { run_id: runId } = (
    await beckon.invoke(agent, `${mark} ${"long ".repeat(14_000)}`, { "idempotency-key": mark })
  ).body;
  const { run_id: firedId } = (await beckon.call(trigger.url, { credential: null, body: mark }))
    .body;
  await eventually(
    "the end of the fired run",
    async () => (await made(`/runs/${firedId}`, undefined, "GET")).finished_at ?? undefined,
  );
  const { id: keyId } = await made("/keys", {
    name: mark,
    preset: "invoke",
    agent_ids: [agent.id],
  });
  const owner = await addPerson(beckon, { role: "owner", key });
  const viewer = await addPerson(beckon, { role: "viewer", key });
  const { id: invitationId } = await made("/invitations", {
    email: `${mark}@example.com`,
    role: "viewer",
  });
  await beckon.call("/invitations", {
    credential: key,
    body: { email: `${mark}-2@example.com`, role: "viewer" },
  });
  await made(`/members/${viewer.id}/reset-link`, {});
  const sessionId = (await owner.call("/sessions")).body.data[0].id;
  return {
    id,
    key,
    owner,
    viewer,
    agent,
    deletedAgentId,
    trigger,
    provider,
    secretId,
    runId,
    busy,
    keyId,
    invitationId,
    sessionId,
    mark,
  };
}

/** A value for each member of a path, by its name; ids for all that are one. */
export function pathMembersOf(of: FilledWorkspace): Readonly<Record<string, string>> {
  return {
    ":agent_id": of.agent.id,
    ":trigger_id": of.trigger.id,
    ":run_id": of.runId,
    ":provider_id": of.provider.id,
    ":key_id": of.keyId,
    ":user_id": of.viewer.id,
    ":invitation_id": of.invitationId,
    ":workspace_id": of.id,
    ":session_id": of.sessionId,
    ":version": "1",
  };
}

/** The path of a route in a workspace, or of several where each member of it is chosen. @throws Error for a member nobody has a value for. */
export function pathOf(
  path: string,
  of: FilledWorkspace,
  chosen: Readonly<Record<string, string>> = {},
): string {
  return path.replaceAll(/:\w+/g, (name) => {
    const value = chosen[name] ?? pathMembersOf(of)[name];
    if (value === undefined)
      throw new Error(`${name} is new in paths: give it a value in filled-workspace.ts`);
    return value;
  });
}

/** A body that the route takes: its example, which names nothing that there is. */
export function bodyOf({
  method,
  doc,
}: {
  readonly method: string;
  readonly doc: { readonly example?: unknown };
}): unknown {
  if (method === "GET" || method === "DELETE") return undefined;
  return doc.example ?? {};
}
