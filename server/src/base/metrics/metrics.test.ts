import { afterEach, expect, test, vi } from "vitest";
import { createMetrics } from "./metrics.ts";

afterEach(() => void vi.useRealTimers());

test("a gauge that cannot be read within a second is left out, and delays no other metric", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const metrics = await createMetrics({ isOn: true });
  metrics.gauge("beckon_http_streams", () => [[[], 3]]);
  metrics.gauge("beckon_runs_queued", () => new Promise(() => {}));
  const collected = metrics.collect({ database: true });
  await vi.advanceTimersByTimeAsync(1_000);
  const values = (await collected).map(({ name, values: [first] }) => [name, first?.value]);
  expect(values).toContainEqual(["beckon_http_streams", 3]);
  expect(values.map(([name]) => name)).not.toContain("beckon_runs_queued");
});
