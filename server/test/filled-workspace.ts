import { randomBytes } from "node:crypto";
import { afterAll } from "vitest";
import { newId } from "../src/base/ids.ts";
import { defaultWorkspaceId } from "../src/workspaces/index.ts";
import { artifactOf, longInput } from "./artifact-of.ts";
import type { TestBeckon } from "./beckon.ts";
import { eventually } from "./eventually.ts";
import { rollUpAll } from "./ledger.ts";
import { echo, held, startModelServer } from "./model-server.ts";
import { addPerson, type Person } from "./people.ts";

/**
 * A workspace with resources of every type, usually two of each. The ids in this object are those
 * of the first resource of each type.
 */
export interface FilledWorkspace {
  readonly id: string;
  /** Has every permission in this workspace and none elsewhere. */
  readonly key: string;
  /** Members of this workspace only. */
  readonly owner: Person;
  readonly viewer: Person;
  readonly agent: { readonly id: string; readonly token: string };
  readonly deletedAgentId: string;
  /** A trigger with settings and a secret. */
  readonly trigger: { readonly id: string; readonly url: string };
  /** Id of the received request that started a run. The trigger's other request started none. */
  readonly requestId: string;
  readonly provider: { readonly id: string; readonly name: string };
  /** Price of a model of the provider. */
  readonly priceId: string;
  /** A plan that is inserted directly, because the API adds plans in `default` only. */
  readonly planId: string;
  /** Secret of a tool of the agent. */
  readonly secretId: string;
  /** A run of the agent that has ended. */
  readonly runId: string;
  /** An artifact of this run. */
  readonly artifactId: string;
  /**
   * The first run in `runIds` waits for its model until the tests of the file have ended. The
   * second run is queued behind it.
   */
  readonly busy: { readonly agentId: string; readonly runIds: readonly string[] };
  readonly keyId: string;
  /** A subscription that is paused, with a delivery that was not sent. */
  readonly subscription: { readonly id: string; readonly deliveryId: string };
  /** An event of no run. */
  readonly eventId: string;
  readonly invitationId: string;
  /** Session of the owner. */
  readonly sessionId: string;
  /** Occurs in all names, descriptions and inputs. */
  readonly mark: string;
}

/** Fills two workspaces: `default` and another. */
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
  const send = async (path: string, body?: unknown, method?: string) => {
    const answer = await call(path, body, method);
    if (answer.status >= 400)
      throw new Error(`${path} returned ${answer.status}: ${JSON.stringify(answer.body)}`);
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
  const provider = await send("/providers", {
    name: mark,
    kind: "openai-compatible",
    base_url: model.url,
    api_key: `sk-${mark}-0123456789`,
  });
  await beckon.call("/providers", {
    credential: key,
    body: { name: `${mark}-2`, kind: "openai-compatible", base_url: model.url },
  });
  const rates = { input_micros_per_million: 1_000_000, output_micros_per_million: 2_000_000 };
  const { id: priceId } = await send("/prices", { model: `${mark}/large`, ...rates });
  await beckon.call("/prices", {
    credential: key,
    body: { model: `${mark}-2/large`, ...rates },
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
  const agent = await send("/agents", {
    name: mark,
    description: mark,
    model: "demo/echo",
    tools: [tool],
  });
  const [kept] = (
    await send(`/agents/${agent.id}`, { instructions: mark, metadata: { mark } }, "PATCH")
  ).tools;
  const secretId = kept.headers.Authorization.secret_id;
  const { id: deletedAgentId } = (
    await beckon.call("/agents", { credential: key, body: { name: mark, model: `${mark}/large` } })
  ).body.data;
  await send(`/agents/${deletedAgentId}/pause`, { reason: mark });
  await send(`/agents/${deletedAgentId}`, undefined, "DELETE");
  const labels = { "beckon-external-id": mark, "beckon-tags": mark };
  const slow = { name: `${mark}-2`, model: `${mark}/large`, limits: { max_concurrent_runs: 1 } };
  const { data: busyAgent } = (await beckon.call("/agents", { credential: key, body: slow })).body;
  const start = async () =>
    (await beckon.invoke(busyAgent, mark, { prefer: "respond-async", ...labels })).body
      .run_id as string;
  const busy = { agentId: busyAgent.id, runIds: [await start(), await start()] };
  await eventually("the run at its model", () => model.requests.length || undefined);
  const trigger = await send(`/agents/${agent.id}/triggers`, {
    name: mark,
    prompt_prefix: mark,
    receiving: {
      event_id: { header: "x-event-id" },
      event_type: { header: "x-event" },
      form: { honeypot: "website" },
    },
  });
  const triggerPath = `/agents/${agent.id}/triggers/${trigger.id}`;
  await send(`${triggerPath}/secret`, { secret: `secret-${mark}` });
  await beckon.call(`/agents/${agent.id}/triggers`, {
    credential: key,
    body: { name: `${mark}-2` },
  });
  const { run_id: runId } = (
    await beckon.invoke(agent, `${mark} ${longInput}`, { "idempotency-key": mark, ...labels })
  ).body;
  const fire = async (body: string) =>
    (
      await beckon.call(trigger.url, {
        credential: null,
        body,
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "x-event": mark,
          "x-event-id": mark,
        },
      })
    ).body;
  await fire(`website=${mark}`);
  const { run_id: firedId } = await fire(`name=${mark}`);
  const [{ id: requestId }] = (
    await beckon.call(`${triggerPath}/requests?outcome=started`, {
      credential: key,
    })
  ).body.data;
  const draft = { input: mark, config: { model: "demo/echo", instructions: mark } };
  const { id: draftId } = await send(`/agents/${agent.id}/draft-runs`, draft);
  for (const id of [firedId, draftId])
    await eventually(
      `the end of ${id}`,
      async () => (await send(`/runs/${id}`, undefined, "GET")).finished_at ?? undefined,
    );
  await rollUpAll(beckon.db.database);
  const artifactId = await artifactOf(beckon, runId, key);
  const { id: keyId } = await send("/keys", {
    name: mark,
    preset: "invoke",
    agent_ids: [agent.id],
  });
  // Neither of these ceilings applies to the busy agent, so Beckon reserves no money for its run,
  // which waits for the model. A reservation for this run is therefore inserted below.
  await send(`/limits/agent/${agent.id}`, { limit_micros: 1_000_000 }, "PUT");
  await send(`/limits/key/${keyId}`, { limit_micros: 1_000_000 }, "PUT");
  const planId = newId("pln");
  await beckon.db.database.engine.query(
    `with plan as (insert into plans (id, workspace_id, name, tokens) values ($1, $2, $3, 5))
      insert into reservations (run_id, workspace_id, agent_id, principal, state)
        values ($4, $2, $5, 'system', 'held') on conflict do nothing`,
    [planId, id, mark, busy.runIds[0], busy.agentId],
  );
  const subscription = await addSubscriptions();
  const owner = await addPerson(beckon, { role: "owner", key });
  const viewer = await addPerson(beckon, { role: "viewer", key });
  const { id: invitationId } = await send("/invitations", {
    email: `${mark}@example.com`,
    role: "viewer",
  });
  await beckon.call("/invitations", {
    credential: key,
    body: { email: `${mark}-2@example.com`, role: "viewer" },
  });
  await send(`/members/${viewer.id}/reset-link`, {});
  const sessionId = (await owner.call("/sessions")).body.data[0].id;
  return {
    id,
    key,
    owner,
    viewer,
    agent,
    deletedAgentId,
    trigger,
    requestId,
    provider,
    priceId,
    planId,
    secretId,
    runId,
    artifactId,
    busy,
    keyId,
    subscription,
    eventId: await lastEvent(),
    invitationId,
    sessionId,
    mark,
  };

  async function addSubscriptions() {
    const ids: string[] = [];
    for (const number of [1, 2]) {
      const { data } = (
        await beckon.call("/subscriptions", {
          credential: key,
          body: {
            url: `http://127.0.0.1:9/${mark}-${number}`,
            event_types: number === 1 ? ["run.finished", "agent.paused"] : ["run.finished"],
            description: mark,
            agent_ids: [agent.id],
            trigger_ids: number === 1 ? null : [trigger.id],
            headers: { authorization: `Bearer ${mark}` },
          },
        })
      ).body;
      await send(`/subscriptions/${data.id}/pause`, {});
      ids.push(data.id);
    }
    const [subscriptionId = ""] = ids;
    // Two deliveries about the run are inserted directly, because the event types of the
    // subscription would give only one.
    const { rows } = await beckon.db.database.engine.query<{ id: string }>(
      `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version,
          agent_id, run_id, seq, status, finished_at)
        select 'dlv_' || substr(e.id, 5, 10) || lpad(e.seq::text, 16, '0'), e.workspace_id, $1,
          'event', e.id, e.type, e.version, $3, e.run_id, e.seq, 'not_sent', now()
        from events e where e.run_id = $2 and e.type in ('run.started', 'run.finished')
        returning id`,
      [subscriptionId, runId, agent.id],
    );
    const deliveryId = rows[0]?.id ?? "";
    await beckon.db.database.engine.query(
      `insert into delivery_attempts (subscription_id, delivery_id, number, workspace_id, started_at,
          duration_ms, url, request_headers, status, response_headers, response_body, error)
        select subscription_id, id, 1, workspace_id, now(), 5, $3, '{}', 500, '{}', $3, $3
        from deliveries where subscription_id = $1 and id = $2`,
      [subscriptionId, deliveryId, mark],
    );
    await beckon.db.database.engine.query(
      `insert into run_callbacks (run_id, workspace_id, subscription_id, url)
        select run_id, workspace_id, subscription_id, $3 from deliveries
        where subscription_id = $1 and id = $2`,
      [subscriptionId, deliveryId, `http://127.0.0.1:9/${mark}`],
    );
    return { id: subscriptionId, deliveryId };
  }

  async function lastEvent() {
    const { rows } = await beckon.db.database.engine.query<{ id: string }>(
      "select id from workspace_events where workspace_id = $1 order by number desc limit 1",
      [id],
    );
    return rows[0]?.id ?? "";
  }
}

/** Returns a value for each path parameter, by name. */
export function pathParametersOf(of: FilledWorkspace): Readonly<Record<string, string>> {
  return {
    ":agent_id": of.agent.id,
    ":trigger_id": of.trigger.id,
    ":request_id": of.requestId,
    ":run_id": of.runId,
    ":artifact_id": of.artifactId,
    ":seq": "1",
    ":event_id": of.eventId,
    ":subscription_id": of.subscription.id,
    ":delivery_id": of.subscription.deliveryId,
    ":provider_id": of.provider.id,
    ":price_id": of.priceId,
    ":plan_id": of.planId,
    ":target_workspace_id": of.id,
    ":scope": "agent",
    ":scope_id": of.agent.id,
    ":key_id": of.keyId,
    ":user_id": of.viewer.id,
    ":invitation_id": of.invitationId,
    ":workspace_id": of.id,
    ":session_id": of.sessionId,
    ":version": "1",
  };
}

/**
 * Whether the route is for owners of the workspace `default` only. Such routes concern all
 * workspaces, so tests of tenancy leave them out; plans.db.test.ts has their tests.
 */
export function isOperators({ permission }: { readonly permission?: string }): boolean {
  return permission === "plans:write";
}

/**
 * Returns the path of a route with the ids of a workspace; `chosen` overrides single parameters.
 *
 * @throws {Error} there is no value for a parameter.
 */
export function pathOf(
  path: string,
  of: FilledWorkspace,
  chosen: Readonly<Record<string, string>> = {},
): string {
  return path.replaceAll(/:\w+/g, (name) => {
    const value = chosen[name] ?? pathParametersOf(of)[name];
    if (value === undefined)
      throw new Error(`the path parameter ${name} is unknown: add a value in filled-workspace.ts`);
    return value;
  });
}

/** Returns a valid body for the route: its example, which refers to no existing resource. */
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
