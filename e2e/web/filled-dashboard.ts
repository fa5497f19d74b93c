import { addRun } from "../../server/test/add-run.ts";
import { addUsage } from "../../server/test/add-usage.ts";
import { eventually } from "../../server/test/eventually.ts";
import { password } from "../../server/test/people.ts";
import { signedAsGithub } from "../../server/test/receiving-trigger.ts";
import type { StandaloneBeckon } from "../../server/test/standalone-beckon.ts";
import { startTargetServer, type TargetServer } from "../../server/test/target-server.ts";
import { createOwner, type SignedIn, signIn } from "./accounts.ts";
import { type Api, apiOf, runEnded } from "./api.ts";
import { startFilledModel } from "./filled-model.ts";
import { shopTool } from "./shop-tool.ts";

/** A workspace that can show every screen in every state, with the ids and tokens for its URLs. */
export interface FilledDashboard {
  readonly url: string;
  readonly owner: SignedIn;
  readonly viewer: SignedIn;
  /** A second workspace of the owner, without agents and runs. */
  readonly emptyWorkspaceId: string;
  readonly agentId: string;
  /** An agent without description, tools, triggers and runs. */
  readonly bareAgentId: string;
  /** An agent with a very long name and very long texts. */
  readonly longAgentId: string;
  readonly triggerId: string;
  /**
   * A trigger that receives the webhooks of GitHub, and ids of received requests by their outcome.
   */
  readonly github: {
    readonly triggerId: string;
    readonly requests: { readonly started: string; readonly notVerified: string };
  };
  readonly runs: {
    readonly succeeded: string;
    readonly failed: string;
    readonly running: string;
    /** The retry of `failed`. */
    readonly retried: string;
    /** The longest run, with as many steps as the parameter `steps` of `fillDashboard`. */
    readonly long: string;
  };
  /**
   * Subscriptions by their state. `deliveries` has one delivery of `working` and one of `failing`.
   */
  readonly subscriptions: {
    readonly working: string;
    readonly failing: string;
    readonly paused: string;
  };
  readonly deliveries: { readonly succeeded: string; readonly failing: string };
  /** Runs that the owner started in the playground of an agent which no other screen shows. */
  readonly answers: {
    readonly userId: string;
    readonly agentId: string;
    readonly runIds: readonly string[];
  };
  /** A workspace with an agent that uses the demo model, and without a provider. */
  readonly firstRun: { readonly workspaceId: string; readonly agentId: string };
  readonly auditEntry: { readonly id: string; readonly time: string };
  /** Tokens of links that were not used yet. */
  readonly inviteToken: string;
  readonly resetToken: string;
}

const longName = `${"Quarterly reconciliation of supplier invoices ".repeat(4)}and more`;
const rtlName = "مكتب الاسترداد 👩🏽‍💻";

/**
 * Creates the owner and fills the installation over the public API. Runs of the past day and usage
 * of the past month are inserted into the database instead, because the API cannot create them with
 * an earlier time. `opened` stops the model server, the tool server and the webhook receiver.
 * @param steps number of steps of the longest run
 */
export async function fillDashboard(
  { url, setupToken, database }: Pick<StandaloneBeckon, "url" | "setupToken" | "database">,
  { opened, steps = 60 }: { readonly opened: AsyncDisposableStack; readonly steps?: number },
): Promise<FilledDashboard> {
  const model = await startFilledModel();
  opened.defer(() => model.close());
  const shop = await startTargetServer();
  opened.defer(() => shop.close());
  shop.answer = ({ method }, response) => {
    response.setHeader("content-type", "application/json");
    if (method === "POST") return void response.writeHead(502).end('{"error":"bad gateway"}');
    response.end(JSON.stringify({ order_id: 4711, status: "shipped", total: 39.98 }));
  };

  const receiver = await startTargetServer();
  opened.defer(() => receiver.close());
  receiver.answer = ({ url: path }, response) => {
    response.setHeader("x-request-id", "req-4711");
    if (path === "/accepts") return void response.writeHead(204).end();
    response.setHeader("content-type", "application/json").writeHead(500);
    response.end(JSON.stringify({ error: "The queue is full.", retry: true }));
  };

  const owner = await createOwner(url, setupToken, { name: "Ada Lovelace" });
  const api = apiOf(url, owner);
  const agent = (name: string, more: object = {}) =>
    api("/agents", { name, model: "demo/echo", ...more });
  const start = async (agentId: string, input: string, headers = {}): Promise<string> =>
    (
      await api(
        `/agents/${agentId}/invoke`,
        { input },
        { headers: { prefer: "respond-async", ...headers } },
      )
    ).run_id;
  const ended = async (runId: string) => {
    await runEnded(api, runId, 180_000);
    return runId;
  };

  const newWorkspace = async (name: string): Promise<string> =>
    (await api("/workspaces", { name })).id;
  const emptyWorkspaceId = await newWorkspace("New workspace");
  const firstWorkspaceId = await newWorkspace("First run");
  const first = await api(
    "/agents",
    { name: "Demo", model: "demo/echo", tools: [{ type: "clock" }] },
    { workspace: firstWorkspaceId },
  );
  await api("/providers", {
    name: "local",
    kind: "openai-compatible",
    base_url: model.url,
    api_key: "sk-0123456789abcdef",
  });
  await api("/providers", {
    name: "unreachable-provider-with-a-long-name",
    kind: "openai-compatible",
    base_url: "http://127.0.0.1:9/v1",
  });
  await api("/prices", {
    model: "local/refunds",
    input_micros_per_million: 150_000,
    output_micros_per_million: 600_000,
  });

  const refunds = await agent("Refund desk", {
    model: "local/refunds",
    description: "Answers requests for refunds, and makes those below 100 dollars.",
    instructions:
      "You answer customers who want a refund.\n\n1. Read the order.\n2. Refund at most 100 dollars.\n3. Answer in two sentences.",
    tools: [{ type: "clock" }, shopTool(shop)],
    metadata: { team: "support" },
  });
  await api(
    `/agents/${refunds.id}`,
    { instructions: "You answer customers who want a refund.\n\nRead the order first." },
    { method: "PATCH" },
  );
  const rejected = await agent("Mail triage", { model: "local/rejects" });
  const silent = await agent("Night shift", {
    model: "local/silent",
    limits: { max_concurrent_runs: 1 },
  });
  const repeating = await agent("Inventory audit", {
    model: "local/repeat",
    tools: [{ type: "clock" }],
    limits: { max_steps: steps },
  });
  const long = await agent(longName, {
    description: "Long ".repeat(200),
    instructions: "A line that is rather long and says nothing at all.\n".repeat(200),
    model: `local/${"model-name-".repeat(20)}`,
  });
  const rtl = await agent(rtlName, { model: "local/echo", description: "يجيب على الرسائل" });
  await api(`/agents/${rtl.id}/pause`, { reason: "The shop is closed until Monday. 🏖️" });
  const bare = await agent("Untouched");
  const removed = await agent("Old assistant");
  await api(`/agents/${removed.id}`, undefined, { method: "DELETE" });

  const payments = await api(`/agents/${refunds.id}/triggers`, {
    name: "Payments",
    prompt_prefix: "A payment came in:",
  });
  await api(`/agents/${refunds.id}/triggers`, { name: longName, enabled: false });
  const fire = (payload: unknown) => api(payments.url, payload);
  const github = await addGithub(api, refunds.id);
  const subscriptions = await addSubscriptions(api, { receiver, agentId: refunds.id });
  const { run_id: firedId } = await fire({ order: 4711, customer: "Grace 👋", lines: [1, 2, 3] });

  const labels = { "beckon-external-id": "order-4711", "beckon-tags": "refund,europe" };
  const succeeded = await start(refunds.id, "Please refund order 4711.", labels);
  const failed = await start(rejected.id, '{"from": "grace@example.com", "subject": "Invoice"}');
  const longRun = await start(repeating.id, "Count everything, then count it again.");
  const running = await start(silent.id, "Wait for the night to end.");
  await start(silent.id, "Wait behind the other run.");
  const cancelled = await start(silent.id, "This run is cancelled.");
  await api(`/runs/${cancelled}/cancel`, {});
  await start(long.id, "x".repeat(5_000));
  const echoed = await start(repeating.id, "A second one, which is retried.");
  await Promise.all([succeeded, failed, longRun, firedId, echoed].map(ended));
  const { id: retried } = await api(`/runs/${failed}/retry`, {});

  const day = 24 * 3_600_000;
  const at = { workspaceId: owner.workspaceId, agentId: refunds.id };
  for (let n = 0; n < 150; n++) {
    const isFailed = n % 23 === 0;
    await addRun(database, at, {
      createdAt: new Date(Date.now() - 60_000 - (day * n) / 150),
      status: isFailed ? "failed" : "succeeded",
      source: n % 3 === 0 ? "trigger" : "invoke",
      durationMs: 400 + ((n * 7_919) % 9_000),
      input: `Where is order ${4_000 + n}?`,
      output: isFailed ? null : "It was shipped.",
      ...(isFailed ? { errorMessage: "The provider responded with status 529." } : {}),
      inputTokens: 1_000 + n * 13,
      outputTokens: 40 + n,
      costMicros: n % 10 === 0 ? null : 1_200 + n * 31,
    });
  }

  for (const [index, agentId] of [refunds.id, repeating.id, long.id, rtl.id].entries()) {
    await addUsage(
      database,
      { ...at, agentId },
      ...Array.from({ length: 28 }, (_, n) => ({
        time: new Date(Date.now() - day * (n + 1)),
        provider: index === 2 ? "unreachable-provider-with-a-long-name" : "local",
        model: index === 2 ? "model-name-".repeat(20) : "refunds",
        principal: n % 2 === 0 ? `trigger:${payments.id}` : `token:${agentId}`,
        tags: n % 3 === 0 ? ["refund", "europe"] : null,
        input_tokens: 100_000 + ((n * 7_919 * (index + 1)) % 900_000),
        output_tokens: 4_000 + ((n * 104_729) % 60_000),
        cached_input_tokens: 50_000,
        cost_micros: index === 2 || n === 12 ? null : 400_000 + ((n * 7_919_000) % 3_000_000),
        estimated: n === 7,
      })),
    );
  }

  await addUsage(database, at, { provider: "local", model: "refunds", cost_micros: 4_300_000 });
  await api("/plans", { name: "team", tokens: 80_000_000, voice_ms: 36_000_000 });
  await api(`/workspace-plans/${owner.workspaceId}`, { plan: "team" }, { method: "PATCH" });
  const ceiling = (scope: string, id: string, limit_micros: number) =>
    api(`/limits/${scope}/${id}`, { limit_micros }, { method: "PUT" });
  await ceiling("agent", refunds.id, 5_000_000);
  await ceiling("agent", long.id, 2_000_000);
  await ceiling("trigger", payments.id, 10_000_000);

  await api("/keys", { name: "Shop backend", preset: "invoke", agent_ids: [refunds.id] });
  await api("/keys", { name: longName, scopes: ["runs:read"], expires_in_days: 2 });
  const invite = (email: string, role: string): Promise<{ id: string; token: string }> =>
    api("/invitations", { email, role });
  const join = async (name: string, email: string, role: string) => {
    const { token } = await invite(email, role);
    await api("/invitations/accept", { token, name, password }, { headers: { cookie: "" } });
    return signIn(url, { name, email });
  };
  const viewer = await join("Grace Hopper", "grace@example.com", "viewer");
  await join(
    "Wilhelmina-Alexandrina van den Heuvel-Oosterbaan",
    `${"w".repeat(60)}@example.com`,
    "editor",
  );
  const { token: inviteToken } = await invite("barbara@example.com", "editor");
  const members: { id?: string; user_id?: string; email: string }[] = await api("/members");
  const grace = members.find(({ email }) => email === "grace@example.com");
  const { token: resetToken } = await api(`/members/${grace?.id ?? grace?.user_id}/reset-link`, {});

  const paused = await api(`/subscriptions/${subscriptions.paused}/pause`, {});
  const lastOf = (subscriptionId: string, status: string) =>
    eventually(`a delivery that has ${status}`, async () => {
      const deliveries: { id: string; status: string; last_error: string | null }[] = await api(
        `/subscriptions/${subscriptionId}/deliveries?type=run.finished`,
      );
      return deliveries.find((each) =>
        status === "failed" ? each.last_error !== null : each.status === status,
      )?.id;
    });
  const deliveries = {
    succeeded: await lastOf(subscriptions.working, "succeeded"),
    failing: await lastOf(subscriptions.failing, "failed"),
  };

  const me = await api("/me");
  const [auditEntry] = await api("/audit?action=agent.update&limit=1");
  return {
    url,
    owner,
    viewer,
    emptyWorkspaceId,
    agentId: refunds.id,
    bareAgentId: bare.id,
    longAgentId: long.id,
    triggerId: payments.id,
    github,
    runs: { succeeded, failed, running, retried, long: longRun },
    subscriptions: { ...subscriptions, paused: paused.id },
    deliveries,
    answers: { userId: me.id, agentId: rejected.id, runIds: [succeeded, failed] },
    firstRun: { workspaceId: firstWorkspaceId, agentId: first.id },
    auditEntry,
    inviteToken,
    resetToken,
  };
}

/** Adds a subscription that works, one that fails and one to pause. Returns their ids. */
async function addSubscriptions(
  api: Api,
  { receiver, agentId }: { readonly receiver: TargetServer; readonly agentId: string },
) {
  const subscribe = async (path: string, more: object): Promise<string> =>
    (await api("/subscriptions", { url: `${receiver.url}${path}`, ...more })).id;
  const ends = ["run.finished", "run.failed"];
  return {
    working: await subscribe("/accepts", {
      description: "Shop backend",
      event_types: ["run.started", "run.tool_call", ...ends],
      headers: { Authorization: "Bearer receiver-secret-0123456789" },
    }),
    failing: await subscribe("/fails", { event_types: ends, agent_ids: [agentId] }),
    paused: await subscribe("/accepts", {
      description: longName,
      event_types: ["run.cancelled", "usage.threshold", "subscription.disabled"],
      format: "cloudevents",
      payload: "thin",
    }),
  };
}

/**
 * Adds a trigger that receives webhooks as GitHub sends them, and sends it four requests: one that
 * its filter rejects, one that starts a run, the same one again, and one with a wrong signature.
 */
async function addGithub(api: Api, agentId: string): Promise<FilledDashboard["github"]> {
  const presets: { name: string; receiving: object }[] = await api("/trigger-presets");
  const receiving = presets.find(({ name }) => name === "github")?.receiving;
  const trigger = await api(`/agents/${agentId}/triggers`, {
    name: "GitHub",
    prompt_prefix: "An event of our repository arrived:",
    receiving: {
      ...receiving,
      filter: 'event.type != "ping"',
      template: "{{ event.type }} {{ payload.action }}\n{{ payload.issue.title }}",
      when_paused: "hold",
    },
  });
  const path = `/agents/${agentId}/triggers/${trigger.id}`;
  const { secret } = await api(`${path}/secret`, {});
  const send = (type: string, id: string, payload: object, signedWith = secret) =>
    api(trigger.url, payload, {
      headers: {
        "x-github-event": type,
        "x-github-delivery": id,
        ...signedAsGithub(JSON.stringify(payload), signedWith),
      },
    });
  const issue = { action: "opened", issue: { number: 4711, title: "The total is wrong 👋" } };
  await send("ping", "72d3162e-cc78-11e3-81ab-4c9367dc0957", { zen: "Keep it simple." });
  await send("issues", "72d3162e-cc78-11e3-81ab-4c9367dc0958", issue);
  await send("issues", "72d3162e-cc78-11e3-81ab-4c9367dc0958", issue);
  await send("push", "72d3162e-cc78-11e3-81ab-4c9367dc0959", issue, "another").catch(() => {});
  const requests: { id: string; outcome: string }[] = await api(`${path}/requests`);
  const idOf = (outcome: string) => requests.find((each) => each.outcome === outcome)?.id ?? "";
  return {
    triggerId: trigger.id,
    requests: { started: idOf("started"), notVerified: idOf("invalid_signature") },
  };
}
