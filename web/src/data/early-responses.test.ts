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

const gone = new Error("The reader has left.");
/** Returns the options of a request, and a function `leave` that aborts their signal. */
function reader() {
  const controller = new AbortController();
  return {
    options: { ...of("wsp_1"), signal: controller.signal },
    leave: () => controller.abort(gone),
  };
}

test.each([200, 401])(
  "the body of an early response with status %i is dropped if its reader has left before it arrives",
  async (status) => {
    const sent = vi.fn(() => Promise.reject(gone));
    vi.stubGlobal("fetch", sent);
    const early = Promise.withResolvers<Response>();
    requestEarly("wsp_1", early.promise);
    const { options, leave } = reader();
    const read = fetchOnce(path, options);
    leave();
    await expect(read).rejects.toBe(gone);
    const response = new Response("early", { status });
    early.resolve(response);
    await vi.waitFor(() => expect(response.bodyUsed).toBe(true));
    expect(sent).not.toHaveBeenCalled();
  },
);

test("a reader that has left already gets no early response, and leaves it to the next one", async () => {
  vi.stubGlobal("fetch", (_input: string, { signal }: RequestInit) =>
    signal?.aborted ? Promise.reject(signal.reason) : Promise.resolve(new Response("later")),
  );
  requestEarly("wsp_1", Promise.resolve(new Response("early")));
  const { options, leave } = reader();
  leave();
  await expect(fetchOnce(path, options)).rejects.toBe(gone);
  expect(await textOf(fetchOnce(path, of("wsp_1")))).toBe("early");
});

test("a body that cannot be dropped fails nothing", async () => {
  const unhandled = vi.fn();
  process.once("unhandledRejection", unhandled);
  const locked = new Response("signed out", { status: 401 });
  locked.body?.getReader();
  requestEarly("wsp_1", Promise.resolve(locked));
  expect(await textOf(fetchOnce(path, of("wsp_1")))).toBe("later");
  await new Promise(setImmediate);
  process.off("unhandledRejection", unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});
