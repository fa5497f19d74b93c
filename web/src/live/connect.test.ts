import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { connectHub } from "./connect.ts";
import type { HubMessage, TabMessage } from "./protocol.ts";
import { createSilence } from "./silence.ts";

vi.mock("./worker.ts?sharedworker&url", () => ({ default: "/worker.js" }));
vi.mock("../data/index.ts", () => ({ clientOf: () => ({}) }));

/** The workers to which the page has connected, the last one last. */
const workers: FakeWorker[] = [];

class FakeWorker {
  onerror: () => void = () => {};
  readonly received: TabMessage[] = [];
  readonly port = {
    onmessage: (_: { readonly data: HubMessage }) => {},
    postMessage: (message: TabMessage) => this.received.push(message),
    close: () => {},
  };
  constructor() {
    workers.push(this);
  }
  send(data: HubMessage) {
    this.port.onmessage({ data });
  }
}

beforeEach(() => {
  workers.length = 0;
  vi.stubGlobal("SharedWorker", FakeWorker);
  vi.stubGlobal("location", new URL("https://beckon.test/"));
  vi.stubGlobal("document", new EventTarget());
  vi.stubGlobal("addEventListener", () => {});
  vi.stubGlobal("removeEventListener", () => {});
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
});

function connect() {
  const received: string[] = [];
  const ids = { workspaceId: "wsp_1", userId: "usr_ada" };
  const connection = connectHub(ids, ({ type }) => received.push(type));
  onTestFinished(connection.close);
  return { ...connection, received };
}

test("a worker that sends nothing for a minute is replaced once the tab connects again", () => {
  const { received, rejoin } = connect();
  workers[0]?.send({ type: "joined" });
  vi.advanceTimersByTime(59_000);
  expect(received).toEqual(["joined"]);
  vi.advanceTimersByTime(6_000);
  expect(received).toEqual(["joined", "removed"]);
  rejoin();
  expect(workers[1]?.received).toMatchObject([{ type: "hello" }]);
});

test("a page whose worker sends nothing for 15 seconds gets live updates itself", async () => {
  const { received } = connect();
  await vi.advanceTimersByTimeAsync(14_000);
  expect(received).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(received).toContain("joined");
  expect(workers[0]?.received).toMatchObject([{ type: "hello" }, { type: "bye" }]);
});

test("a page that was suspended for a minute waits for the messages of its worker", () => {
  let now = 0;
  const silence = createSilence(() => now);
  const checkAfter = (ms: number) => {
    now += ms;
    return silence.check();
  };
  expect([600_000, 20_000, 20_000, 20_000].map(checkAfter)).toEqual([false, false, false, true]);
});

test("a tab that the hub has removed is not removed again, and keeps its worker", () => {
  const { received, rejoin } = connect();
  workers[0]?.send({ type: "removed" });
  vi.advanceTimersByTime(120_000);
  expect(received).toEqual(["removed"]);
  rejoin();
  expect(workers).toHaveLength(1);
});

test("an error of a worker that has answered changes nothing", () => {
  const { send } = connect();
  workers[0]?.send({ type: "joined" });
  workers[0]?.onerror();
  send({ type: "retry" });
  expect(workers[0]?.received.at(-1)).toEqual({ type: "retry" });
});
