import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { median } from "../../test/busy-model.ts";
import { echo, startModelServer, status } from "../../test/model-server.ts";
import { allSucceeded } from "../../test/runs-of.ts";

const beckon = await startTestBeckon();

test("a provider outage delays no other agents, and runs resume within 30 s", async () => {
  const [broken, healthy] = [await startModelServer(), await startModelServer()];
  const [down, up] = [
    await beckon.createProvider(broken.url, "down"),
    await beckon.createProvider(healthy.url, "up"),
  ];
  broken.script(status(503));
  const waiting = await beckon.createAgent({ model: `${down.name}/model` });
  const busy = await beckon.createAgent({ model: `${up.name}/model` });
  const trigger = await beckon.createTrigger(waiting.id);

  const runs = 60;
  const fired = Array.from({ length: runs }, () =>
    beckon.call(trigger.url, { credential: null, body: "Hello" }),
  );
  const times: number[] = [];
  for (let round = 0; round < 40; round++) {
    const began = performance.now();
    expect((await beckon.invoke(busy, "Hello")).body.output).toBe("Hello");
    times.push(performance.now() - began);
  }
  expect((await Promise.all(fired)).map((answer) => answer.status)).toEqual(
    Array.from({ length: runs }, () => 200),
  );
  expect(median(times), "milliseconds of an invoke of another provider's agent").toBeLessThan(
    1_000,
  );
  // Each run can call the provider once before the model's circuit breaker opens. After that, only
  // the probes of the circuit breaker call it.
  expect(broken.requests.length).toBeLessThan(runs * 2);

  broken.script(echo());
  const returned = performance.now();
  await allSucceeded(beckon, waiting.id, runs);
  expect(performance.now() - returned).toBeLessThan(30_000);
  await Promise.all([broken.close(), healthy.close()]);
});
