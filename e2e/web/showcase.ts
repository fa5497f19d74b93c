import { setTimeout as delay } from "node:timers/promises";
import { addRun } from "../../server/test/add-run.ts";
import { addUsage } from "../../server/test/add-usage.ts";
import {
  type Behaviour,
  blackHole,
  type ModelOutput,
  says,
  startModelServer,
} from "../../server/test/model-server.ts";
import type { StandaloneBeckon } from "../../server/test/standalone-beckon.ts";
import { startTargetServer } from "../../server/test/target-server.ts";
import { createOwner, type SignedIn } from "./accounts.ts";
import { apiOf, runEnded } from "./api.ts";
import { shopTool } from "./shop-tool.ts";

/** A workspace as a small shop would have it after a month, for the pictures of the README. */
export interface Showcase {
  readonly owner: SignedIn;
  /** The agent that answers requests for refunds. */
  readonly agentId: string;
  /** A run of this agent with three model calls and two tool calls. */
  readonly runId: string;
}

/** What the model answers in each step, and after how many milliseconds. */
const steps: readonly (ModelOutput & { readonly after: number })[] = [
  {
    after: 1_240,
    text: "I will look at the order first.",
    calls: [{ id: "call_1", name: "get_order", arguments: '{"order_id":4711}' }],
    usage: { prompt_tokens: 1_180, completion_tokens: 41, cached_tokens: 1_024 },
  },
  {
    after: 930,
    calls: [
      {
        id: "call_2",
        name: "refund",
        arguments: '{"body":{"order_id":4711,"amount":39.98}}',
      },
    ],
    usage: { prompt_tokens: 1_344, completion_tokens: 58, cached_tokens: 1_024 },
  },
  {
    after: 1_710,
    text: `Order **4711** is refunded in full.

| Item | Amount |
|---|---:|
| Espresso cups, set of six | $33.00 |
| Shipping | $6.98 |
| **Refund** | **$39.98** |

The money arrives within three working days. The customer does not have to send the cups back.`,
    usage: { prompt_tokens: 1_466, completion_tokens: 112, cached_tokens: 1_024 },
  },
];

const answers: Behaviour = async (request, index) => {
  const { model, messages } = request.body;
  if (model === "waits") return blackHole(request, index);
  const step = messages.filter(({ role }) => role === "assistant").length;
  const { after, ...output } = steps[step] ?? { after: 0 };
  await delay(after);
  return says(output)(request, index);
};

/** Inputs of the runs by agent, and how long the agent's runs take, in milliseconds. */
const work: Readonly<
  Record<string, { readonly takes: number; readonly inputs: readonly string[] }>
> = {
  "Refund desk": {
    takes: 4_100,
    inputs: [
      "Order 4802 arrived broken. I would like my money back.",
      "I was charged twice for order 4795.",
      "The cups of order 4788 are the wrong colour.",
      "Please cancel order 4781, it has not shipped yet.",
    ],
  },
  "Mail triage": {
    takes: 1_300,
    inputs: [
      "Re: Delivery on Friday? We are closed until ten.",
      "Invoice 2026-1183 attached",
      "Job application: roaster, part time",
      "Wholesale prices for 40 kg a month",
      "Unsubscribe",
    ],
  },
  "Invoice check": {
    takes: 6_800,
    inputs: [
      "Compare invoice 2026-1183 with its purchase order.",
      "Compare invoice 2026-1179 with its purchase order.",
    ],
  },
  "On-call summary": {
    takes: 9_400,
    inputs: ["Summarise the alerts of the last hour for the morning shift."],
  },
  "Lead research": {
    takes: 12_600,
    inputs: ["Who runs purchasing at Nordkaffe AB?", "Find cafés in Lyon that roast themselves."],
  },
};

const minute = 60_000;
const day = 24 * 60 * minute;

/**
 * Fills an empty Beckon with the showcase. Executes the run `runId`, and inserts earlier runs and
 * their usage into the database. `opened` stops the servers that the agents call.
 */
export async function fillShowcase(
  { url, setupToken, database }: StandaloneBeckon,
  opened: AsyncDisposableStack,
): Promise<Showcase> {
  const model = await startModelServer();
  opened.defer(() => model.close());
  model.script(answers);
  const shop = await startTargetServer();
  opened.defer(() => shop.close());
  shop.answer = async ({ method }, response) => {
    await delay(method === "POST" ? 610 : 280);
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify(
        method === "POST"
          ? { refund_id: "rf_2291", status: "paid" }
          : { order_id: 4711, status: "delivered", total: 39.98, currency: "USD" },
      ),
    );
  };

  const owner = await createOwner(url, setupToken, { name: "Ada Lovelace" });
  const api = apiOf(url, owner);
  for (const each of await api("/agents"))
    await api(`/agents/${each.id}`, undefined, { method: "DELETE" });
  await api("/providers", {
    name: "mistral",
    kind: "openai-compatible",
    base_url: model.url,
    api_key: "sk-0123456789abcdef",
  });
  for (const name of ["mistral-medium", "waits"]) {
    await api("/prices", {
      model: `mistral/${name}`,
      input_micros_per_million: 400_000,
      output_micros_per_million: 2_000_000,
    });
  }
  const agents = new Map<string, string>();
  for (const name of Object.keys(work)) {
    const { id } = await api("/agents", {
      name,
      model: "mistral/mistral-medium",
      ...(name === "Refund desk"
        ? {
            description: "Answers requests for refunds, and pays those below 100 dollars.",
            instructions:
              "You answer customers of a coffee shop who want a refund.\n\n1. Read the order.\n2. Refund at most 100 dollars. Ask a person above that.\n3. Answer in the customer's language, in a few sentences.",
            tools: [{ type: "clock" }, shopTool(shop)],
          }
        : {}),
    });
    agents.set(name, id);
  }
  const idOf = (name: string) => agents.get(name) ?? "";
  const agentId = idOf("Refund desk");

  await addEarlierRuns(database, { workspaceId: owner.workspaceId, idOf });
  await api(`/limits/agent/${idOf("Lead research")}`, { limit_micros: 250_000 }, { method: "PUT" });
  await api(`/agents/${idOf("On-call summary")}/pause`, {
    reason: "The alert feed moves on Monday.",
  });

  const invoke = async (input: string, headers = {}): Promise<string> =>
    (
      await api(
        `/agents/${agentId}/invoke`,
        { input },
        { headers: { prefer: "respond-async", ...headers } },
      )
    ).run_id;
  const runId = await invoke("Order 4711 arrived broken. I would like my money back.", {
    "beckon-external-id": "ticket-20931",
    "beckon-tags": "refund,damaged",
  });
  await runEnded(api, runId, 30_000);
  await api(`/agents/${idOf("Invoice check")}`, { model: "mistral/waits" }, { method: "PATCH" });
  await api(
    `/agents/${idOf("Invoice check")}/invoke`,
    { input: "Compare invoice 2026-1186 with its purchase order." },
    { headers: { prefer: "respond-async" } },
  );
  return { owner, agentId, runId };
}

/** Adds 420 runs of the last two hours, of which two failed, and the usage of a month. */
async function addEarlierRuns(
  database: StandaloneBeckon["database"],
  { workspaceId, idOf }: { readonly workspaceId: string; readonly idOf: (name: string) => string },
): Promise<void> {
  const names = Object.keys(work);
  // The agents whose runs are added, in a fixed order, so that new pictures show the same runs as
  // earlier ones. Mail triage has the most runs.
  const mix = [
    "Mail triage",
    "Refund desk",
    "Mail triage",
    "Invoice check",
    "Mail triage",
    "Refund desk",
  ];
  for (let n = 0; n < 420; n++) {
    const name =
      n % 40 === 39 ? (names[3 + (n % 2)] ?? "") : (mix[(n * 5 + (n >> 3)) % mix.length] ?? "");
    const { takes, inputs } = work[name] ?? { takes: 0, inputs: [] };
    const isFailed = n === 14 || n === 190;
    await addRun(
      database,
      { workspaceId, agentId: idOf(name) },
      {
        createdAt: new Date(
          Date.now() - 20_000 - n * 15_000 - ((n * 7_919) % 9_000) - (n % 7) * 3_000,
        ),
        status: isFailed ? "failed" : "succeeded",
        source: name === "Mail triage" ? "trigger" : "invoke",
        durationMs: takes * 0.6 + ((n * 7_919) % takes),
        input: inputs[n % inputs.length] ?? "",
        output: isFailed ? null : "Done.",
        ...(isFailed ? { errorMessage: "The model's provider answered 529: overloaded" } : {}),
        inputTokens: 900 + ((n * 613) % 1_400),
        outputTokens: 40 + ((n * 37) % 160),
        costMicros: 900 + ((n * 613) % 1_900),
      },
    );
  }
  for (const [index, name] of names.entries()) {
    await addUsage(
      database,
      { workspaceId, agentId: idOf(name) },
      ...Array.from({ length: 28 }, (_, n) => ({
        time: new Date(Date.now() - day * (n + 1)),
        provider: "mistral",
        model: "mistral-medium",
        input_tokens: 100_000 + ((n * 7_919 * (index + 1)) % 900_000),
        output_tokens: 4_000 + ((n * 104_729) % 60_000),
        cost_micros: 400_000 + ((n * 7_919_000) % 3_000_000),
      })),
      {
        provider: "mistral",
        model: "mistral-medium",
        // Lead research (index 4) is close to its ceiling of 250,000.
        cost_micros: index === 4 ? 215_000 : 120_000,
      },
    );
  }
}
