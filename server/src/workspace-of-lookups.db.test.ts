import { expect, test } from "vitest";
import { startTestBeckon } from "../test/beckon.ts";
import { defaultWorkspaceId } from "./workspaces/index.ts";

/** The workspaces on whose behalf names were looked up. */
const owners: (string | undefined)[] = [];
let addresses: readonly string[] = [];
const beckon = await startTestBeckon(
  {},
  {
    lookups: async (_name, owner) => {
      owners.push(owner);
      return addresses;
    },
  },
);
const url = "http://host.test/";
const newProvider = (name: string) => beckon.createProvider(`${url}v1`, name);

test.each([
  [
    "a tool",
    async () => {
      const operations = [{ name: "ask", description: "Asks.", method: "GET", url }];
      const tools = [{ type: "http", name: "web", allowed_hosts: ["host.test"], operations }];
      const agent = await beckon.createAgent({ tools });
      return () => beckon.invoke(agent, "/call ask {}");
    },
  ],
  [
    "a model",
    async () => {
      const { name } = await newProvider("called");
      const agent = await beckon.createAgent({ model: `${name}/m` });
      return () => beckon.invoke(agent, "Hello");
    },
  ],
  [
    "a provider that is checked",
    async () => {
      const { id } = await newProvider("checked");
      return () => beckon.call(`/providers/${id}/check`, { method: "POST" });
    },
  ],
  [
    "a provider whose models are listed",
    async () => {
      await newProvider("listed");
      return () => beckon.call("/models");
    },
  ],
  [
    "a subscription",
    async () => {
      const body = { url, event_types: ["run.finished"] };
      const { id } = (await beckon.call("/subscriptions", { body })).body.data;
      return () => beckon.call(`/subscriptions/${id}/test`, { method: "POST" });
    },
  ],
])("the host of %s is looked up on behalf of its workspace", async (_what, prepare) => {
  addresses = [];
  const call = await prepare();
  owners.length = 0;
  // The call fails at once, because this address is not public.
  addresses = ["10.0.0.1"];
  await call();
  await expect.poll(() => owners).not.toEqual([]);
  expect([...new Set(owners)]).toEqual([defaultWorkspaceId]);
});
