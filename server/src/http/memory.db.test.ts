import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { says, startModelServer } from "../../test/model-server.ts";
import type { HeapGuard } from "../base/heap-guard.ts";

const heap: HeapGuard & { isFull: boolean } = { isFull: false, onChange: () => {}, stop: () => {} };
/**
 * With this budget, the limit for bodies and responses in memory is 30 MiB, and 22.5 MiB for those
 * of one caller.
 */
const beckon = await startTestBeckon({ BECKON_MEMORY_BUDGET_MIB: "96" }, { heap });

function setFull(isFull: boolean): void {
  heap.isFull = isFull;
  heap.onChange(isFull);
}

/**
 * Sends all but the last byte of a body of 1 MiB and keeps the connection open. `answer` is what
 * was received so far.
 */
function sendSlowly(agent: { id: string; token: string }): {
  readonly socket: Socket;
  answer: string;
} {
  const { hostname, port } = new URL(beckon.url);
  const slow = { socket: connect(Number(port), hostname), answer: "" };
  onTestFinished(() => void slow.socket.destroy());
  slow.socket
    .on("error", () => {})
    .on("data", (chunk) => {
      slow.answer += chunk;
    });
  const head = `POST /api/public/agents/${agent.id}/invoke HTTP/1.1\r\nhost: ${hostname}\r\nx-api-key: ${agent.token}\r\ncontent-length: 1048576\r\n\r\n`;
  slow.socket.write(head + "x".repeat(1_048_575));
  return slow;
}

test("more large bodies than one caller may send at once get 503, those of another caller do not", async () => {
  const [greedy, other] = [await beckon.createAgent(), await beckon.createAgent()];
  const large = "x".repeat(1_040_000);
  expect((await beckon.invoke(greedy, large)).status).toBe(200);
  const slow = Array.from({ length: 6 }, () => sendSlowly(greedy));
  const rejected = await eventually("a rejected body", () =>
    slow.find(({ answer }) => answer.includes("}")),
  );
  expect(rejected.answer).toMatch(/^HTTP\/1.1 503 .*\r\nretry-after: 1\r\n.*"code":"unavailable"/s);
  expect((await beckon.invoke(other, large)).status).toBe(200);
  expect((await beckon.invoke(greedy, "small")).status).toBe(200);
  for (const { socket } of slow) socket.destroy();
  await eventually(
    "capacity for its bodies again",
    async () => (await beckon.invoke(greedy, large)).status === 200 || undefined,
  );
});

test("an output that is too large to be sent now is answered with 503 and the run's id", async () => {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  server.script(says("x".repeat(5_000_000)));
  const { name } = await beckon.createProvider(server.url, "large");
  const agent = await beckon.createAgent({
    model: `${name}/scripted`,
    limits: { max_answer_bytes: 6_000_000 },
  });
  const { status, body, headers } = await beckon.invoke(agent, "hello");
  expect([status, body.code, headers.get("retry-after")]).toEqual([503, "unavailable", "1"]);
  expect(body.error).toContain(body.run_id);
});

test("a page of runs ends early if their texts are large, and its cursor continues with the next run", async () => {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  server.script(says("x".repeat(1_500_000)));
  const { name } = await beckon.createProvider(server.url, "paged");
  const agent = await beckon.createAgent({ model: `${name}/scripted` });
  const made = [];
  for (let n = 0; n < 5; n++) made.unshift((await beckon.invoke(agent, "hello")).body.run_id);
  const pages: string[][] = [];
  for (let after: string | null = ""; after !== null; ) {
    const { body }: { body: { data: { id: string }[]; next: string | null } } = await beckon.call(
      `/agents/${agent.id}/runs?limit=100${after === "" ? "" : `&after=${after}`}`,
    );
    pages.push(body.data.map(({ id }) => id));
    after = body.next;
  }
  expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
  expect(pages.flat()).toEqual(made);
});

test("while the heap is full nothing is started, and afterwards everything works again", async () => {
  const agent = await beckon.createAgent();
  const trigger = await beckon.createTrigger(agent.id);
  setFull(true);
  expect((await fetch(`${beckon.url}/readyz`)).status).toBe(503);
  const answers = [
    await beckon.invoke(agent, "hello"),
    await beckon.call(trigger.url, { credential: null, body: "hello" }),
  ];
  for (const { status, body, headers } of answers) {
    expect([status, body.code, headers.get("retry-after")]).toEqual([503, "unavailable", "5"]);
  }
  setFull(false);
  expect((await fetch(`${beckon.url}/readyz`)).status).toBe(200);
  expect((await beckon.invoke(agent, "hello")).status).toBe(200);
});

test("a run that another process has accepted in the meantime is executed when memory is free again", async () => {
  const agent = await beckon.createAgent();
  const api = await beckon.another({ settings: { BECKON_ROLE: "api" } });
  onTestFinished(() => api.stop());
  setFull(true);
  const invoked = beckon.call(`${api.url}/api/public/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input: "kept" },
  });
  const { data } = await eventually("the run in the queue", async () => {
    const { body } = await beckon.call(`/agents/${agent.id}/runs`);
    return body.data.length === 1 ? body : undefined;
  });
  expect(data[0].status).toBe("queued");
  setFull(false);
  expect((await invoked).body.output).toBe("kept");
});
