import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fetchOnce } from "./early-responses.ts";

const path = "/api/public/agents?limit=200";
const of = (workspaceId: string) => ({ headers: { "beckon-workspace": workspaceId } });
const textOf = async (response: Promise<Response>) => (await response).text();

beforeEach(() => {
  vi.stubGlobal("location", { origin: "https://beckon.test" });
  vi.stubGlobal("fetch", () => Promise.resolve(new Response("later")));
});
afterEach(() => {
  globalThis.beckonEarlyResponses = undefined;
});

function requestEarly(workspaceId: string, response: Promise<Response>): void {
  globalThis.beckonEarlyResponses = new Map([[`${workspaceId} ${path}`, response]]);
}

test("an early response is taken once, by the workspace for which it was requested", async () => {
  requestEarly("wsp_1", Promise.resolve(new Response("early")));
  expect(await textOf(fetchOnce(path, of("wsp_2")))).toBe("later");
  expect(await textOf(fetchOnce(path, of("wsp_1")))).toBe("early");
  expect(await textOf(fetchOnce(path, of("wsp_1")))).toBe("later");
});

test("an early response that is an error is requested again, and its body is dropped", async () => {
  const rejected = new Response("signed out", { status: 401 });
  requestEarly("wsp_1", Promise.resolve(rejected));
  expect(await textOf(fetchOnce(path, of("wsp_1")))).toBe("later");
  expect(rejected.bodyUsed).toBe(true);
  requestEarly("wsp_1", Promise.reject(new TypeError("no connection")));
  expect(await textOf(fetchOnce(path, of("wsp_1")))).toBe("later");
});

test("after a change, no early response is taken, and their bodies are dropped", async () => {
  const early = new Response("early");
  requestEarly("wsp_1", Promise.resolve(early));
  await fetchOnce("/api/public/agents", { method: "POST", ...of("wsp_1") });
  expect(await textOf(fetchOnce(path, of("wsp_1")))).toBe("later");
  expect(early.bodyUsed).toBe(true);
});
