import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { echo, held, startModelServer } from "../server/test/model-server.ts";
import { caller } from "./call.ts";
import {
  freePort,
  type Product,
  startProduct,
  stillRunning,
  temporaryFolder,
  until,
} from "./product.ts";

const folder = join(temporaryFolder(), "data");
const port = String(await freePort());
const call = caller(
  () => `http://127.0.0.1:${port}`,
  () => readFileSync(join(folder, "bootstrap.key"), "utf8").trim(),
);
let startCount = 0;

/** Starts Beckon on `folder` with an agent whose model responds only after `release`. */
async function startWithHeldModel(env: Record<string, string>) {
  const models = await startModelServer();
  const released = Promise.withResolvers<void>();
  models.script(held(released.promise, echo()));
  onTestFinished(async () => {
    released.resolve();
    await models.close();
  });
  const settings = {
    BECKON_DATA_DIR: folder,
    PORT: port,
    BECKON_EGRESS_ALLOW: new URL(models.url).host,
    ...env,
  };
  const product = await startProduct(settings);
  const name = `held-${++startCount}`;
  await call("/providers", { body: { name, kind: "openai-compatible", base_url: models.url } });
  const agent = (await call("/agents", { body: { name: "Held", model: `${name}/scripted` } })).body
    .data;
  return {
    settings,
    product,
    release: () => released.resolve(),
    invoke: () =>
      call(`/agents/${agent.id}/invoke`, { key: agent.token, body: { input: "Hello" } }),
    reached: (count: number) =>
      until(`${count} requests at the model`, () => models.requests.length >= count),
  };
}

const isNotReady = async () => (await call(`http://127.0.0.1:${port}/readyz`)).status === 503;

/** Expects that all processes have exited and that PostgreSQL was shut down properly. */
function expectNothingLeft(product: Product, started: readonly number[]): void {
  expect(stillRunning(started, folder)).toEqual([]);
  expect(readFileSync(join(folder, "postgres.log"), "utf8")).toMatch(
    /database system is shut down\s*$/,
  );
  expect(product.output()).not.toMatch(/could not be|failed|killed/);
}

test("on SIGTERM it becomes not ready, rejects starts, finishes runs in the drain time and exits with 0", async () => {
  const { product, invoke, reached, release } = await startWithHeldModel({
    BECKON_DRAIN_SECONDS: "20",
  });
  const waiting = invoke();
  await reached(1);
  const started = product.descendants();
  const stopped = product.stop("SIGTERM");
  await until("it says that it is not ready", isNotReady);
  const rejected = await invoke();
  expect([rejected.status, rejected.body.code]).toEqual([503, "unavailable"]);
  expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
  release();
  const { status, body } = await waiting;
  expect([status, body.output]).toEqual([200, "Hello"]);
  expect(await stopped).toBe(0);
  expect(product.output().match(/^Finishing .*/gm)).toEqual([
    "Finishing 1 run, up to 20 s; Ctrl-C again to stop now. The next start resumes unfinished runs.",
  ]);
  expectNothingLeft(product, started);
});

test("runs that are not finished in the drain time are queued and finish after the next startup in the same attempt", async () => {
  const { product, settings, invoke, reached, release } = await startWithHeldModel({
    BECKON_DRAIN_SECONDS: "1",
    BECKON_PROCESSES: "2",
  });
  const waiting = [invoke(), invoke(), invoke()];
  await reached(3);
  const started = product.descendants();
  expect(await product.stop("SIGTERM")).toBe(0);
  expect(product.output().match(/^Finishing \d+ runs, up to 1 s;/gm)).toEqual([
    "Finishing 3 runs, up to 1 s;",
  ]);
  expectNothingLeft(product, started);
  const responses = await Promise.all(waiting);
  for (const { status, body, headers } of responses) {
    expect([status, body.status]).toEqual([202, "queued"]);
    expect(headers.get("location")).toBe(`/api/public/runs/${body.run_id}`);
  }

  release();
  const next = await startProduct(settings);
  for (const { headers } of responses) {
    const runUrl = `http://127.0.0.1:${settings.PORT}${headers.get("location")}`;
    await until(
      "the end of the run",
      async () => (await call(runUrl)).body.data.finished_at !== null,
    );
    const { status, attempt, output, id } = (await call(runUrl)).body.data;
    expect([status, attempt, output]).toEqual(["succeeded", 1, "Hello"]);
    const types: string[] = (await call(`/runs/${id}/events`)).body.data.map(
      (event: { type: string }) => event.type,
    );
    // The comparison begins at `run.started`. Some runs have a `run.queued` before it, because a
    // new process queues the runs that it accepts until it has checked that no older run is queued.
    expect(types.slice(types.indexOf("run.started"))).toEqual([
      ...["run.started", "run.step_lost", "run.queued", "run.resumed", "run.step", "run.finished"],
    ]);
  }
  expect(await next.stop()).toBe(0);
  expect(next.output()).not.toContain("Finishing");
});

test("a second signal skips the drain time, shuts PostgreSQL down properly, and the run resumes at the next startup", async () => {
  const { product, settings, invoke, reached, release } = await startWithHeldModel({
    BECKON_DRAIN_SECONDS: "60",
  });
  const waiting = invoke().catch(() => undefined);
  await reached(1);
  const [run] = (await call("/runs")).body.data;
  const started = product.descendants();
  const stopped = product.stop("SIGTERM");
  await until("it says that it is not ready", isNotReady);
  // Beckon ignores signals within half a second after it handled the first one, because one Ctrl-C
  // can arrive twice: from the terminal, and forwarded by npm or a shell. Beckon has handled the
  // first signal when /readyz returns 503. So the test waits 0.7 seconds after that response.
  const notReadyAt = performance.now();
  await until("the end of that time", () => performance.now() > notReadyAt + 700);
  expect(stillRunning([product.pid], folder)).not.toEqual([]);
  const startedAt = performance.now();
  void product.stop("SIGTERM");
  expect(await stopped).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  await waiting;
  expect(stillRunning(started, folder)).toEqual([]);
  expect(readFileSync(join(folder, "postgres.log"), "utf8")).toMatch(
    /database system is shut down\s*$/,
  );

  release();
  const next = await startProduct(settings);
  await until(
    "the end of the run",
    async () => (await call(`/runs/${run.id}`)).body.data.finished_at !== null,
  );
  expect((await call(`/runs/${run.id}`)).body.data).toMatchObject({
    status: "succeeded",
    attempt: 2,
  });
  expect(await next.stop()).toBe(0);
});
