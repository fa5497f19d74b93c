import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import {
  type FilledWorkspace,
  fillTwoWorkspaces,
  isOperators,
  pathOf,
} from "../../test/filled-workspace.ts";
import { readRows } from "../../test/rows-of.ts";
import { managedRoutes } from "./api/index.ts";
import type { ManagedRoute } from "./management/managed-route.ts";

/**
 * Two workspaces with the same content. In requests to one workspace, every query parameter and
 * body field that can refer to a resource refers to a resource of the other workspace. A new
 * parameter or field makes a test fail until it is listed in this file.
 */

const beckon = await startTestBeckon();
const [ours, theirs] = (await fillTwoWorkspaces(beckon)).toReversed() as [
  FilledWorkspace,
  FilledWorkspace,
];
const rows = await readRows(beckon.db);
// The workspace `default` created the other one. The audit logs of both have an entry about this,
// with the same ids. Such shared ids do not show that a response contains a foreign resource.
const shared = await rows.ids(ours.id);
const foreign = [...(await rows.ids(theirs.id))].filter((id) => !shared.has(id));

const callers = [
  [
    "a key",
    (path: string, options = {}) => beckon.call(path, { ...options, credential: ours.key }),
  ],
  ["a session", ours.owner.call],
] as const;

/**
 * Sends a request. Checks that the response contains nothing of the foreign workspace except what
 * the request contains, and that nothing in the foreign workspace has changed.
 */
async function keepsApart(asked: unknown, ask: () => Promise<Answer>): Promise<Answer> {
  const before = await rows.marks(theirs.id);
  const answer = await ask();
  const sent = JSON.stringify(asked);
  const text = JSON.stringify(answer.body ?? null);
  expect(
    [...foreign, theirs.mark].filter((each) => text.includes(each) && !sent.includes(each)),
  ).toEqual([]);
  expect(await rows.marks(theirs.id)).toEqual(before);
  return answer;
}

/** Query parameters that do not refer to a resource. */
const plainInQueries =
  "limit outcome paused deleted merge with format created_after created_before status source kind action since until view type bucket group_by from to scope".split(
    " ",
  );

/**
 * For each query parameter that is not in `plainInQueries`, values that refer to the foreign
 * workspace. `path` is the path of the route with ids of the foreign workspace.
 */
const inQueries: Readonly<
  Record<string, (path: string) => Promise<readonly string[]> | readonly string[]>
> = {
  agent_id: () => [theirs.agent.id, theirs.deletedAgentId],
  trigger_id: () => [theirs.trigger.id],
  event_type: () => [theirs.mark],
  run_id: () => [theirs.runId],
  external_id: () => [theirs.mark],
  tag: () => [theirs.mark],
  search: () => [theirs.mark],
  error: () => [theirs.mark],
  text: () => [theirs.mark],
  model: () => [`${theirs.provider.name}/large`, `${theirs.provider.id}/large`],
  actor: () => [`user:${theirs.owner.id}`],
  caller: () => [`token:${theirs.agent.id}`, `user:${theirs.owner.id}`, `key:${theirs.keyId}`],
  target: () => [theirs.agent.id, theirs.keyId, theirs.viewer.id],
  after: async (path) => {
    // Events are listed only after all older transactions of the PostgreSQL server have ended,
    // including those of other tests.
    const page = await eventually(`something in ${path}`, async () => {
      const { body } = await beckon.call(`${path}?limit=1`, { credential: theirs.key });
      // The report of `GET /usage` has its rows and its cursor in `data`.
      const { rows = body.data, next = body.next } = body.data;
      return rows.length > 0 ? { rows, next } : undefined;
    });
    return [page.next, page.rows[0]?.cursor].filter((cursor) => typeof cursor === "string");
  },
};

/** Returns what the request found: lines of text, counts of runs, rows of a report, or a list. */
function foundIn(doc: (typeof managedRoutes)[number]["doc"], body: Answer["body"]) {
  if (doc.lines) return body ?? "";
  if (doc.id === "getUsage") return body.data.rows;
  if (doc.id !== "getRunStats") return body.data;
  const groups: readonly { readonly runs: Record<string, number> }[] = body.data.groups;
  return groups.flatMap(({ runs }) => Object.values(runs)).filter((count) => count > 0);
}

const queries = managedRoutes
  .filter((route) => !isOperators(route))
  .flatMap((route) =>
    Object.keys(route.doc.query?.shape ?? {})
      .filter((member) => !plainInQueries.includes(member))
      .map((member) => ({ ...route, member })),
  );

test.each(queries)(
  "$method $path?$member= of a foreign workspace finds nothing",
  async ({ path, member, doc }) => {
    const values = await inQueries[member]?.(pathOf(path, theirs));
    expect(values, `say what ${member} can refer to`).toBeDefined();
    for (const value of values ?? []) {
      const asked = `${pathOf(path, ours)}?${member}=${encodeURIComponent(value)}`;
      for (const [, call] of callers) {
        const { status, body } = await keepsApart(asked, () => call(asked));
        expect(status).toBeOneOf(member === "after" ? [200, 400, 404] : [200, 404]);
        if (status === 200 && member !== "after") expect(foundIn(doc, body)).toHaveLength(0);
      }
    }
  },
);

test.each(managedRoutes.filter(({ doc }) => doc.list && doc.query !== undefined))(
  "$path returns cursors to use in another workspace",
  async ({ path, doc }) => {
    // `listWorkspaces` shows a key only its own workspace, so there is no second page and no
    // cursor. `listEvents` returns two cursors: that of the page and that of the first event.
    const expected = doc.id === "listWorkspaces" ? 0 : doc.id === "listEvents" ? 2 : 1;
    expect(await inQueries.after?.(pathOf(path, theirs))).toHaveLength(expected);
  },
);

/**
 * Fields of bodies that do not refer to a resource, at any depth. Tokens are credentials and not
 * references.
 */
const plainInBodies = new Set(
  `name instructions description model_settings temperature max_output_tokens reasoning_effort stream tools type allowed_hosts headers
  secret prefix secret_last4 query operations method url parameters body body_type safe_to_repeat idempotency_header timeout_seconds
  max_response_bytes max_calls_per_run limits max_steps max_concurrent_runs max_queued_runs max_attempts max_answer_bytes metadata reason grace_seconds
  beckon agents paused pause_reason triggers prompt_prefix enabled filter error created_after created_before status source all version
  payload content_type input config kind base_url api_key free document server
  input_micros_per_million output_micros_per_million cached_input_micros_per_million cache_write_micros_per_million scopes preset expires_in_days expires_at time_zone run_retention_days role
  max_cost_micros reserve_output_tokens limit_micros pauses_agent tokens voice_ms browser_ms cost_micros plan takes_effect anchor_day event_types tags format since until which allows_callback
  receiving verification allowed_addresses event_id event_id_days event_type handshake bodies template when_paused when_disabled max_per_minute form
  header algorithm encoding signed timestamp id tolerance_seconds secret_encoding literal pair pointer multipart xml ndjson csv gzip max_bytes
  origins honeypot answer redirect text request example verify_token seconds outcome`.split(/\s+/),
);

/** Returns the names of all fields of a JSON Schema, at every depth. */
function namesIn(schema: unknown): string[] {
  if (schema === null || typeof schema !== "object") return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === "properties"
      ? [...Object.keys(value), ...Object.values(value).flatMap(namesIn)]
      : namesIn(value),
  );
}

const referring = managedRoutes.flatMap(({ doc }) =>
  doc.body === undefined
    ? []
    : [...new Set(namesIn(z.toJSONSchema(doc.body, { io: "input", unrepresentable: "any" })))]
        .filter((name) => !plainInBodies.has(name))
        .map((name) => `${doc.id}.${name}`),
);

const model = `${theirs.provider.name}/large`;
const byId = `${theirs.provider.id}/large`;
const shop = "127.0.0.1:9";
const tools = [
  {
    type: "http",
    name: "shop",
    allowed_hosts: [shop],
    headers: { Authorization: { secret_id: theirs.secretId } },
    operations: [
      { name: "read", description: "Reads", method: "GET", url: `http://${shop}/orders` },
    ],
  },
];
const document = (agent: object) => ({
  beckon: 1,
  agents: [{ name: "Test", model: "demo/echo", ...agent }],
});
const subscribing = (selection: object) => ({
  url: "http://127.0.0.1:9/events",
  event_types: ["run.finished"],
  ...selection,
});
const after = async (list: string) =>
  (await beckon.call(list, { credential: theirs.key })).body.next as string;

/** For each field in `referring`: bodies, with the expected status and `data` of the response. */
const cases: Readonly<
  Record<string, readonly (readonly [body: unknown, status: number, data?: unknown])[]>
> = {
  "createAgent.model": [model, byId].map((given) => [{ name: "Test", model: given }, 400] as const),
  "updateAgent.model": [model, byId].map((given) => [{ model: given }, 400] as const),
  "importAgents.model": [model, byId].map((given) => [document({ model: given }), 400] as const),
  "createAgent.secret_id": [[{ name: "Test", model: "demo/echo", tools }, 400]],
  "updateAgent.secret_id": [[{ tools }, 400]],
  "startDraftRun.model": [model, byId].map(
    (given) => [{ input: "Hello", config: { model: given } }, 400] as const,
  ),
  "startDraftRun.secret_id": [[{ input: "Hello", config: { tools } }, 400]],
  "createPrice.model": [model, byId].map(
    (given) =>
      [{ model: given, input_micros_per_million: 1, output_micros_per_million: 1 }, 400] as const,
  ),
  "createKey.agent_ids": [theirs.agent.id, theirs.deletedAgentId].map(
    (id) => [{ name: "Test", preset: "invoke", agent_ids: [ours.agent.id, id] }, 404] as const,
  ),
  "updateKey.agent_ids": [theirs.agent.id, theirs.deletedAgentId].map(
    (id) => [{ agent_ids: [ours.agent.id, id] }, 404] as const,
  ),
  "createSubscription.agent_ids": [theirs.agent.id, theirs.deletedAgentId].map(
    (id) => [subscribing({ agent_ids: [ours.agent.id, id] }), 400] as const,
  ),
  "testTrigger.request_id": [[{ request: { request_id: theirs.requestId } }, 404]],
  "previewTrigger.request_id": [[{ request: { request_id: theirs.requestId } }, 404]],
  "createSubscription.trigger_ids": [
    [subscribing({ trigger_ids: [ours.trigger.id, theirs.trigger.id] }), 400],
  ],
  "updateSubscription.agent_ids": [theirs.agent.id, theirs.deletedAgentId].map(
    (id) => [{ agent_ids: [ours.agent.id, id] }, 400] as const,
  ),
  "updateSubscription.trigger_ids": [[{ trigger_ids: [theirs.trigger.id] }, 400]],
  "cancelRuns.agent_id": [
    [{ filter: { agent_id: theirs.busy.agentId } }, 200, { cancelled: 0, next: null }],
  ],
  "cancelRuns.trigger_id": [
    [{ filter: { trigger_id: theirs.trigger.id } }, 200, { cancelled: 0, next: null }],
  ],
  "cancelRuns.external_id": [
    [{ filter: { external_id: theirs.mark } }, 200, { cancelled: 0, next: null }],
  ],
  "cancelRuns.tag": [[{ filter: { tag: theirs.mark } }, 200, { cancelled: 0, next: null }]],
  "cancelRuns.after": [[{ all: true, after: await after("/runs?limit=1") }, 400]],
  "deleteRuns.agent_id": [
    [{ filter: { agent_id: theirs.agent.id } }, 200, { deleted: 0, next: null }],
  ],
  "deleteRuns.trigger_id": [
    [{ filter: { trigger_id: theirs.trigger.id } }, 200, { deleted: 0, next: null }],
  ],
  "deleteRuns.external_id": [
    [{ filter: { external_id: theirs.mark } }, 200, { deleted: 0, next: null }],
  ],
  "deleteRuns.tag": [[{ filter: { tag: theirs.mark } }, 200, { deleted: 0, next: null }]],
  "deleteRuns.after": [[{ all: true, after: await after("/runs?limit=1") }, 400]],
  // A member of the foreign workspace can be invited to this one too. The response is the same as
  // for an unknown address, so it does not reveal the membership.
  "createInvitation.email": [[{ email: theirs.viewer.email, role: "viewer" }, 201]],
};

test("every field of a body that can refer to something has a case", () => {
  expect(Object.keys(cases).sort()).toEqual(referring.sort());
});

describe.each(Object.entries(cases))("%s of a foreign workspace", (member, bodies) => {
  const [{ method, path }] = managedRoutes.filter(({ doc }) => doc.id === member.split(".")[0]) as [
    ManagedRoute,
  ];

  test.each(callers)("has no effect with %s", async (_, call) => {
    for (const [body, status, data] of bodies) {
      const answer = await keepsApart(body, () => call(pathOf(path, ours), { method, body }));
      expect([answer.status, answer.body]).toMatchObject([
        status,
        data === undefined ? {} : { data },
      ]);
    }
  });
});

test("an imported document cannot refer to a stored secret", async () => {
  const body = document({ tools });
  const answer = await keepsApart(body, () =>
    beckon.call("/agents/import", { credential: ours.key, body }),
  );
  expectError(answer, 400, "bad_request", /Authorization/);
});

test("a filter for all runs means those of the own workspace", async () => {
  const { body: cancelled } = await keepsApart({}, () =>
    beckon.call("/runs/cancel", { credential: ours.key, body: { all: true } }),
  );
  expect(cancelled.data).toEqual({ cancelled: 2, next: null });
  const runs = async () => (await beckon.call("/runs", { credential: ours.key })).body.data;
  await eventually(
    "the end of all",
    async () =>
      (await runs()).every((run: { finished_at: unknown }) => run.finished_at) || undefined,
  );
  await keepsApart({}, () =>
    beckon.call("/runs/delete", { credential: ours.key, body: { all: true } }),
  );
  expect(await runs()).toEqual([]);
});
