import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../test/beckon.ts";
import { startModelServer } from "../test/model-server.ts";

const models = await startModelServer({ host: "127.0.0.1", port: 0 });
afterAll(() => models.close());
const port = new URL(models.url).port;

test("the port of the metrics is not probed for a model server", async () => {
  const modelServers = [{ name: "vllm", port: Number(port), start: "Start vLLM" }];
  const beckon = await startTestBeckon(
    { BECKON_DISCOVER: "1", BECKON_METRICS_PORT: port },
    { modelServers },
  );
  expect((await beckon.call("/providers")).body.data).toEqual([]);
  expect(models.listRequests).toBe(0);
});
