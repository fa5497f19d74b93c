import { afterAll } from "vitest";
import type { Answer, TestBeckon } from "./beckon.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { startTargetServer } from "./target-server.ts";

/** One of every type of encrypted value. */
export interface EncryptedValues {
  readonly agent: { readonly id: string; readonly token: string };
  readonly trigger: { readonly id: string; readonly url: string };
  /** A trigger whose requests must have its sender secret in the header `x-secret`. */
  readonly receiver: {
    readonly url: string;
    readonly secretPath: string;
    readonly secret: string;
  };
  readonly provider: { readonly id: string };
  /** An agent whose tool has a secret. */
  readonly handy: { readonly id: string; readonly token: string };
  readonly toolGrant: (authorization: unknown) => object;
  /** An agent that calls the provider. */
  readonly modelled: { readonly id: string; readonly token: string };
  readonly models: ModelServer;
  /** Repeats the creation of an agent with the same Idempotency-Key. */
  readonly createAgain: (url: string) => Promise<Answer>;
  /**
   * Uses each value at the server at `url`. Returns for each value `opens` if the server could
   * decrypt it, else the error.
   */
  try(url: string): Promise<Readonly<Record<EncryptedValue, string>>>;
}

export type EncryptedValue =
  | "agent token"
  | "trigger token"
  | "provider check"
  | "provider run"
  | "tool"
  | "signing secret"
  | "sender secret"
  | "stored answer";

export const allDecrypt: Readonly<Record<EncryptedValue, string>> = {
  "agent token": "opens",
  "trigger token": "opens",
  "provider check": "opens",
  "provider run": "opens",
  tool: "opens",
  "signing secret": "opens",
  "sender secret": "opens",
  "stored answer": "opens",
};

let count = 0;

/**
 * Creates one value of every type in the bootstrap key's workspace. Call it at the top of a file.
 */
export async function createEncryptedValues(beckon: TestBeckon): Promise<EncryptedValues> {
  const number = ++count;
  const [models, target] = [await startModelServer(), await startTargetServer()];
  afterAll(() => Promise.all([models.close(), target.close()]));
  const [providerKey, toolSecret] = [
    `sk-provider-${number}-0123456789`,
    `sk-tool-${number}-0123456789`,
  ];
  const agent = await beckon.createAgent();
  const trigger = await beckon.createTrigger(agent.id);
  const receiver = await beckon.createTrigger(agent.id, {
    receiving: { verification: { kind: "header", header: "x-secret" } },
  });
  const senderPath = `/agents/${agent.id}/triggers/${receiver.id}/secret`;
  const sender = (await beckon.call(senderPath, { method: "POST" })).body.data;
  const kept = {
    name: `sealed-${number}`,
    kind: "openai-compatible",
    base_url: models.url,
    api_key: providerKey,
  };
  const provider = (await beckon.call("/providers", { body: kept })).body.data;
  const modelled = await beckon.createAgent({ model: `${kept.name}/scripted` });
  const toolGrant = (authorization: unknown) => ({
    type: "http",
    name: "shop",
    allowed_hosts: [target.host],
    headers: { Authorization: authorization },
    operations: [
      { name: "read", description: "Reads", method: "GET", url: `${target.url}/orders` },
    ],
  });
  const handy = await beckon.createAgent({ tools: [toolGrant({ secret: toolSecret })] });
  const signing = (
    await beckon.call("/subscriptions", {
      body: { url: models.url, event_types: ["subscription.disabled"] },
    })
  ).body.data;
  const createAgain = (url: string) =>
    beckon.call(`${url}/api/public/agents`, {
      body: { name: `Once ${number}`, model: "demo/echo" },
      headers: { "idempotency-key": `once-${number}` },
    });
  const once = await createAgain(beckon.url);

  const describe = ({ status, body }: Answer) =>
    `${status} ${body.code ?? "ok"}: ${body.error ?? body.output}`;
  const invoke = (url: string, of: { id: string; token: string }, input: string) =>
    beckon.call(`${url}/api/public/agents/${of.id}/invoke`, {
      credential: of.token,
      body: { input },
    });
  return {
    agent,
    trigger,
    receiver: { url: receiver.url, secretPath: senderPath, secret: sender.secret },
    provider,
    handy,
    toolGrant,
    modelled,
    models,
    createAgain,
    async try(url) {
      const at = (path: string, options?: { method: string }) =>
        beckon.call(`${url}/api/public${path}`, options);
      const revealed = await at(`/agents/${agent.id}/token`);
      const fired = await at(`/agents/${agent.id}/triggers/${trigger.id}/token`);
      const checked = await at(`/providers/${provider.id}/check`, { method: "POST" });
      const ran = await invoke(url, modelled, "Hello");
      const reached = target.reached.length;
      const called = await invoke(url, handy, "/call read {}");
      const signed = await at(`/subscriptions/${signing.id}/secret`);
      const sent = await at(senderPath);
      const again = await createAgain(url);
      const used = models.requests.at(-1)?.headers.authorization;
      return {
        "agent token": revealed.body.data?.token === agent.token ? "opens" : describe(revealed),
        "trigger token":
          fired.body.data?.token !== undefined && trigger.url.endsWith(fired.body.data.token)
            ? "opens"
            : describe(fired),
        "provider check": checked.status === 200 ? "opens" : describe(checked),
        "provider run":
          ran.status === 200 && used === `Bearer ${providerKey}` ? "opens" : describe(ran),
        tool:
          target.reached[reached]?.headers.authorization === toolSecret
            ? "opens"
            : describe(called),
        "signing secret": signed.body.data?.secret === signing.secret ? "opens" : describe(signed),
        "sender secret": sent.body.data?.secret === sender.secret ? "opens" : describe(sent),
        "stored answer":
          again.status === 201 && again.body.data.token === once.body.data.token
            ? "opens"
            : describe(again),
      };
    },
  };
}
