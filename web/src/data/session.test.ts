import { QueryClient } from "@tanstack/react-query";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { clearingsSoFar, clearToasts, shownToasts, showToast } from "../ui/overlay/toast/toasts.ts";

/** Stubs the globals of a page that the imported modules use when they are loaded and later. */
function stubPage() {
  vi.stubGlobal("location", { origin: "https://beckon.test" });
  vi.stubGlobal(
    "BroadcastChannel",
    class {
      addEventListener() {}
      postMessage = announce;
    },
  );
  vi.stubGlobal("sessionStorage", drafts);
  vi.stubGlobal("localStorage", { removeItem: forget });
  vi.stubGlobal("fetch", async (url: string) => {
    const response = await responses.get(new URL(url).pathname.replace("/api/public", ""));
    if (response === undefined) throw new TypeError("no connection");
    return response;
  });
}

/** Sends a message to the other tabs. */
const announce = vi.fn();
/** Deletes an item of the local storage. */
const forget = vi.fn();
const drafts = new Map<string, string>();
/** The server's responses by path. If there is none, the response is lost. */
const responses = new Map<string, Response | Promise<Response>>();

stubPage();
const { createSession } = await import("./session.ts");
const clients = await import("./client.ts");
const { meQuery } = await import("./me.ts");

const me = { id: "usr_1", name: "Ada", workspaces: [{ id: "wsp_1" }] };
const unauthorized = () =>
  Response.json({ ok: false, error: "Sign in.", code: "unauthorized" }, { status: 401 });

/** A response that does not show who is signed in. The client does not retry after it. */
const failed = () =>
  Response.json({ ok: false, error: "Failed.", code: "internal" }, { status: 500 });

/** Returns the session of a signed-in person. */
function openSession({ needsSession = true } = {}) {
  const leave = vi.fn();
  const queryClient = new QueryClient();
  queryClient.setQueryData(meQuery.queryKey, me as never);
  const session = createSession(queryClient, {
    leave,
    needsSession: () => needsSession,
    isVisibleTo: ({ workspaces }) => workspaces.length > 0,
  });
  return { leave, queryClient, session };
}

beforeEach(() => {
  stubPage();
  vi.clearAllMocks();
  responses.clear();
  drafts.clear();
  drafts.set("beckon.draft.usr_1.agt_1", "Not saved");
});

test("the page, its data and drafts stay if the session expires", async () => {
  responses.set("/me", unauthorized());
  const { leave, queryClient, session } = openSession();
  const changed = vi.fn();
  session.subscribe(changed);
  await session.check();
  expect([session.isExpired(), changed.mock.calls.length]).toEqual([true, 1]);
  expect([leave.mock.calls, drafts.size]).toEqual([[], 1]);
  expect(queryClient.getQueryData(meQuery.queryKey)).toEqual(me);
});

test("a page that needs no session is left if the session expires", async () => {
  responses.set("/me", unauthorized());
  const { leave, session } = openSession({ needsSession: false });
  await session.check();
  expect(leave.mock.calls).toEqual([[{ next: true }]]);
  expect([session.isExpired(), drafts.size]).toEqual([false, 1]);
});

test("the page continues if the same person signs in again", async () => {
  responses.set("/me", unauthorized());
  const { leave, queryClient, session } = openSession();
  queryClient.setQueryData(["wsp_1", "agents"], []);
  await session.check();
  responses.set("/sign-in", Response.json({ ok: true, data: {} }));
  responses.set("/me", Response.json({ ok: true, data: { ...me, name: "Ada L." } }));
  await session.signIn({ email: "ada@example.com", password: "correct" });
  expect(session.isExpired()).toBe(false);
  expect(leave).not.toHaveBeenCalled();
  expect(announce.mock.calls).toEqual([[{ type: "signed in" }]]);
  expect(queryClient.getQueryData(meQuery.queryKey)).toMatchObject({ name: "Ada L." });
  expect(queryClient.getQueryState(["wsp_1", "agents"])?.isInvalidated).toBe(true);
});

test("the page continues if a check finds that the person has signed in again", async () => {
  responses.set("/me", unauthorized());
  const { leave, session } = openSession();
  await session.check();
  responses.set("/me", Response.json({ ok: true, data: me }));
  expect(await session.check()).toBe(true);
  expect([session.isExpired(), leave.mock.calls]).toEqual([false, []]);
});

test("a check from before the sign-in does not end the new session", async () => {
  responses.set("/me", unauthorized());
  const { session } = openSession();
  await session.check();
  const late = Promise.withResolvers<Response>();
  responses.set("/me", late.promise);
  const checked = session.check();
  responses.set("/sign-in", Response.json({ ok: true, data: {} }));
  responses.set("/me", Response.json({ ok: true, data: me }));
  await session.signIn({ email: "ada@example.com", password: "correct" });
  late.resolve(unauthorized());
  expect(await checked).toBe(true);
  expect(session.isExpired()).toBe(false);
});

test.each([
  ["is another one", { ...me, id: "usr_2" }, 0],
  ["has no access any more", { ...me, workspaces: [] }, 1],
])("all data is deleted if the person who signs in %s", async (_, person, kept) => {
  responses.set("/me", unauthorized());
  const { leave, queryClient, session } = openSession();
  const left = Promise.withResolvers<void>();
  leave.mockReturnValue(left.promise);
  await session.check();
  responses.set("/sign-in", Response.json({ ok: true, data: {} }));
  responses.set("/me", Response.json({ ok: true, data: person }));
  await session.signIn({ email: "ada@example.com", password: "correct" });
  expect(queryClient.getQueryData(meQuery.queryKey)).toBe(undefined);
  expect([leave.mock.calls, drafts.size]).toEqual([[[{ next: true }]], kept]);
  // The sign-in hides the page until another one is shown.
  expect(session.isExpired()).toBe(true);
  left.resolve();
  await vi.waitFor(() => expect(session.isExpired()).toBe(false));
});

test("after a sign-out that did not arrive, the end of the session counts as an expiry", async () => {
  responses.set("/me", Response.json({ ok: true, data: me }));
  const { leave, session } = openSession();
  await expect(session.signOut()).rejects.toMatchObject({ code: "no_answer" });
  responses.set("/me", unauthorized());
  await session.check();
  expect([session.isExpired(), leave.mock.calls]).toEqual([true, []]);
  expect(drafts.size).toBe(1);
});

test("a sign-out whose response is lost succeeds if the session has ended", async () => {
  responses.set("/me", unauthorized());
  const { leave, queryClient, session } = openSession();
  await session.signOut();
  expect(leave.mock.calls).toEqual([[{ next: false }]]);
  expect([drafts.size, queryClient.getQueryData(meQuery.queryKey)]).toEqual([0, undefined]);
});

test("a sign-out whose response is lost succeeds if a check has found the end before", async () => {
  const lost = Promise.withResolvers<Response>();
  responses.set("/sign-out", lost.promise);
  responses.set("/me", unauthorized());
  const { leave, session } = openSession();
  const signedOut = session.signOut();
  await session.check();
  expect(leave.mock.calls).toEqual([[{ next: false }]]);
  lost.reject(new TypeError("no connection"));
  await signedOut;
});

test("a sign-out whose response is lost drops everything as soon as the session has ended", async () => {
  responses.set("/me", failed());
  const { leave, session } = openSession();
  await expect(session.signOut()).rejects.toMatchObject({ code: "no_answer" });
  expect(leave).not.toHaveBeenCalled();
  responses.set("/me", unauthorized());
  await session.check();
  expect(leave.mock.calls).toEqual([[{ next: false }]]);
  expect(drafts.size).toBe(0);
});

test("a sign-out whose response is lost is announced when the session has ended", async () => {
  responses.set("/me", unauthorized());
  const { session } = openSession();
  await session.signOut();
  expect(announce.mock.calls).toEqual([[{ type: "signed out" }]]);
  expect(forget.mock.calls).toEqual([["beckon.workspace"]]);
});

test("drafts stay if the session expires after a sign-out that the person has given up", async () => {
  responses.set("/me", failed());
  const { queryClient, session } = openSession();
  await expect(session.signOut()).rejects.toMatchObject({ code: "no_answer" });
  const updatedAt = Date.now() + 1;
  queryClient.setQueryData(meQuery.queryKey, me as never, { updatedAt });
  responses.set("/me", unauthorized());
  await session.check();
  expect(drafts.size).toBe(1);
});

test("another person's session is not announced as signed out", async () => {
  responses.set("/me", Response.json({ ok: true, data: { id: "usr_2", name: "Grace" } }));
  const { leave, session } = openSession();
  await session.signOut();
  expect(leave).toHaveBeenCalledOnce();
  expect([drafts.size, announce.mock.calls]).toEqual([0, []]);
});

test("a sign-out after the end of the session drops everything", async () => {
  responses.set("/sign-out", unauthorized());
  const { leave, session } = openSession();
  await session.signOut();
  expect(leave.mock.calls).toEqual([[{ next: false }]]);
  expect(drafts.size).toBe(0);
});

/** Returns a response after which the client retries when the seconds have passed. */
const busy = (seconds: number) =>
  Response.json(
    { ok: false, error: "Busy.", code: "agent_busy" },
    { status: 429, headers: { "retry-after": String(seconds) } },
  );

/** Lets the time of retries pass without waiting. */
function fakeTime() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

const draft = { input: "Hi", config: {} };
const agents = () => clients.clientOf("wsp_1").agents;
test.each([
  ["a draft run", "/agents/agt_1/draft-runs", () => agents().startDraftRun("agt_1", draft)],
  ["a watched run", "/agents/agt_1/invoke", () => agents().startAndWatch("agt_1", { input: "Hi" })],
  ["a new name", "/me", () => clients.account.me.update({ name: "Ada L." })],
])("%s that waits for a retry is not sent for the next person", async (_, path, call) => {
  fakeTime();
  const { session } = openSession();
  responses.set(path, busy(5));
  const failed = expect(call()).rejects.toMatchObject({
    code: "unauthorized",
    message: expect.stringContaining("The session has ended."),
  });
  await vi.advanceTimersByTimeAsync(1_000);
  responses.set("/sign-out", new Response(null, { status: 204 }));
  await session.signOut();
  const send = vi.spyOn(globalThis, "fetch");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(send).not.toHaveBeenCalled();
  await failed;
});

test("the calls of the next person are sent", async () => {
  const { session } = openSession();
  responses.set("/sign-out", new Response(null, { status: 204 }));
  await session.signOut();
  responses.set("/me", Response.json({ ok: true, data: { id: "usr_2" } }));
  responses.set("/agents/agt_1", Response.json({ ok: true, data: { id: "agt_1" } }));
  expect(await clients.account.me.get()).toEqual({ id: "usr_2" });
  expect(await agents().get("agt_1")).toMatchObject({ id: "agt_1" });
});

test("a sign-out that waits for a retry does not end the session of the next person", async () => {
  fakeTime();
  responses.set("/sign-out", busy(5));
  const { leave, session } = openSession();
  const signedOut = session.signOut();
  await vi.advanceTimersByTimeAsync(1_000);
  responses.set("/me", Response.json({ ok: true, data: { id: "usr_2", name: "Grace" } }));
  await session.check();
  const send = vi.spyOn(globalThis, "fetch");
  await vi.advanceTimersByTimeAsync(60_000);
  await signedOut;
  expect(send).not.toHaveBeenCalled();
  expect(leave).toHaveBeenCalledOnce();
});

test("a sign-in above the limit of attempts fails at once", async () => {
  const error = { ok: false, error: "Wait.", code: "too_many_requests" };
  const headers = { "retry-after": "45" };
  responses.set("/sign-in", Response.json(error, { status: 429, headers }));
  const { session } = openSession();
  await expect(
    session.signIn({ email: "ada@example.com", password: "wrong" }),
  ).rejects.toMatchObject({ code: "too_many_requests", retryAfter: 45 });
});

test("a sign-in whose cookie the browser drops does not say that the password is wrong", async () => {
  responses.set("/sign-in", Response.json({ ok: true, data: {} }));
  responses.set("/me", unauthorized());
  const { session } = openSession();
  await expect(session.signIn({ email: "ada@example.com", password: "correct" })).rejects.toThrow(
    "the browser did not keep the session's cookie",
  );
});

test("a sign-out that the server rejects is no reason to drop drafts later", async () => {
  const error = { ok: false, error: "Wait.", code: "too_many_requests" };
  const headers = { "retry-after": "600" };
  responses.set("/sign-out", Response.json(error, { status: 429, headers }));
  responses.set("/me", unauthorized());
  const { session } = openSession();
  await expect(session.signOut()).rejects.toMatchObject({ code: "too_many_requests" });
  await session.check();
  expect(drafts.size).toBe(1);
});

test.each([
  ["stay if the session expires", unauthorized, 1],
  [
    "are removed if the session is now that of another person",
    () => Response.json({ ok: true, data: { id: "usr_2" } }),
    0,
  ],
])("toasts %s", async (_, response, left) => {
  responses.set("/me", response());
  const { session } = openSession();
  clearToasts();
  showToast({ title: "Deleted Payroll" }, clearingsSoFar());
  await session.check();
  expect(shownToasts().length).toBe(left);
});

test("a check that finds other memberships makes the page read them again", async () => {
  const { queryClient, session } = openSession();
  const isInvalidated = () => queryClient.getQueryState(meQuery.queryKey)?.isInvalidated;
  responses.set("/me", Response.json({ ok: true, data: me }));
  expect([await session.check(), isInvalidated()]).toEqual([true, false]);
  responses.set("/me", Response.json({ ok: true, data: { ...me, workspaces: [] } }));
  expect([await session.check(), isInvalidated()]).toEqual([true, true]);
});

test("a check says that the person is signed in only if the server has said so", async () => {
  const { session } = openSession();
  responses.set("/me", failed());
  expect(await session.check()).toBe(false);
  responses.set("/me", Response.json({ ok: true, data: me }));
  expect(await session.check()).toBe(true);
  responses.set("/me", unauthorized());
  expect(await session.check()).toBe(false);
});
