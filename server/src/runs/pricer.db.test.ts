import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { probedOperator } from "../../test/probed-operator.ts";
import { insertStranger } from "../../test/workspace-key.ts";
import { PriceTable } from "../prices/index.ts";
import { operatorProviders } from "../providers/index.ts";
import { defaultWorkspaceId } from "../workspaces/index.ts";
import { createPricer } from "./pricer.ts";

/**
 * Tests the prices of models whose providers have the URLs of vendors. No request is sent to the
 * vendors.
 */

const beckon = await startTestBeckon();
const apiKey = "key-0123456789abcdef";
const prices = new PriceTable({
  models: new Map(),
  voiceNanosPerSecond: undefined,
  browserNanosPerSecond: undefined,
});
const pricer = createPricer({
  database: beckon.db.database,
  operator: operatorProviders(
    {
      openai: { baseUrl: undefined, apiKey },
      anthropic: { baseUrl: "https://proxy.example.com/v1", apiKey },
      google: { baseUrl: undefined, apiKey: undefined },
    },
    { defaultWorkspaceId, shared: false, discovery: undefined },
  ),
  prices,
});

const million = { input_tokens: 1_000_000, output_tokens: 0, cached_input_tokens: 0 };

/** Returns the price of a call with one million input tokens. */
async function costOf(model: string, providerId: string | null, workspaceId = defaultWorkspaceId) {
  const priceOf = await pricer({ workspaceId, model, providerId });
  return priceOf(million);
}
const addProvider = async (body: object, credential = beckon.key) =>
  (await beckon.call("/providers", { credential, body: { api_key: apiKey, ...body } })).body.data
    .id as string;

const ofLibrary = { micros: 2_500_000, standardMicros: 2_500_000, origin: "library" };
const unknown = { micros: null, standardMicros: null, origin: null };

test("a model of the operator's provider has the library's price", async () => {
  expect(await costOf("openai/gpt-4o", null)).toEqual(ofLibrary);
  expect(await costOf("openai-chat/gpt-4o", null)).toEqual(ofLibrary);
});

test("a model behind a proxy of the operator has no price in the library", async () => {
  expect(await costOf("anthropic/claude-sonnet-4-5", null)).toEqual(unknown);
});

test("a provider of the operator that the workspace cannot use has no price", async () => {
  expect(await costOf("openai/gpt-4o", null, "wsp_other")).toEqual(unknown);
});

test("a model server on this machine is free, whether or not it was found", async () => {
  const operator = await probedOperator(defaultWorkspaceId, ["ollama"], () => {});
  const withServer = createPricer({ database: beckon.db.database, operator, prices });
  const priceOf = async (model: string, workspaceId = defaultWorkspaceId) =>
    (await withServer({ workspaceId, model, providerId: null }))(million);
  const free = { micros: 0, standardMicros: 0, origin: "free" };
  expect(operator.usableBy(defaultWorkspaceId)).toEqual([]);
  expect(await priceOf("ollama/llama3.2")).toEqual(free);
  await operator.probe(defaultWorkspaceId);
  expect(operator.usableBy(defaultWorkspaceId)).toHaveLength(1);
  expect(await priceOf("ollama/llama3.2")).toEqual(free);
  expect(await priceOf("ollama/llama3.2", "wsp_other")).toEqual(unknown);
  expect(await priceOf("vllm/llama3.2")).toEqual(unknown);
});

test("an own provider has the library's price at a vendor's address, whatever its name", async () => {
  const id = await addProvider({ name: "mine", kind: "openai-chat" });
  expect(await costOf("mine/gpt-4o", id)).toEqual(ofLibrary);
  const compatible = await addProvider({
    name: "compatible",
    kind: "openai-compatible",
    base_url: "https://openrouter.ai/api/v1",
  });
  expect(await costOf("compatible/openai/gpt-4o", compatible)).toEqual(ofLibrary);
  expect(await costOf("compatible/gpt-4o", compatible)).toEqual(unknown);
});

test("a free own provider keeps its standard cost", async () => {
  const id = await addProvider({ name: "freed", kind: "openai", free: true });
  expect(await costOf("freed/gpt-4o", id)).toEqual({ ...ofLibrary, micros: 0, origin: "free" });
});

test("a provider of another workspace has no price", async () => {
  const stranger = await insertStranger(beckon);
  const id = await addProvider({ name: "theirs", kind: "openai" }, stranger);
  expect(await costOf("theirs/gpt-4o", id)).toEqual(unknown);
});

test("demo/echo is free", async () => {
  expect(await costOf("demo/echo", null)).toEqual({
    micros: 0,
    standardMicros: 0,
    origin: "free",
  });
});
