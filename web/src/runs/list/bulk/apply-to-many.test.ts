import { type BeckonClient, BeckonError } from "@beckon/client";
import { expect, test } from "vitest";
import { applyToMany } from "./apply-to-many.ts";

const clientWith = (runs: object) => ({ runs }) as unknown as Pick<BeckonClient, "runs">;
const never = new AbortController().signal;

test("all matching runs are changed page by page, with the progress", async () => {
  const bodies: unknown[] = [];
  const answers = [
    { deleted: 1_000, next: "a" },
    { deleted: 0, next: "b" },
    { deleted: 20, next: null },
  ];
  const client = clientWith({
    deleteMany: async (body: unknown) => {
      bodies.push(body);
      return answers.shift();
    },
  });
  const progress: number[] = [];
  const body = { filter: { agent_id: "agt_1" } };
  const changed = await applyToMany(client, "delete", { body }, (n) => progress.push(n), never);
  expect([changed, progress]).toEqual([1_020, [1_000, 1_000, 1_020]]);
  expect(bodies).toEqual([body, { ...body, after: "a" }, { ...body, after: "b" }]);
});

test("closing the dialog stops before the next page", async () => {
  const stop = new AbortController();
  const client = clientWith({ cancelMany: async () => ({ cancelled: 5, next: "more" }) });
  const changed = await applyToMany(
    client,
    "cancel",
    { body: { all: true } },
    () => stop.abort(),
    stop.signal,
  );
  expect(changed).toBe(5);
});

test("selected runs that are gone meanwhile are passed over", async () => {
  const gone = new BeckonError({ code: "not_found", message: "No such run.", status: 404 });
  const client = clientWith({
    cancel: async (id: string) => {
      if (id === "run_2") throw gone;
      return { status: "running" };
    },
  });
  const ids = ["run_1", "run_2", "run_3"];
  expect(await applyToMany(client, "cancel", { ids }, () => {}, never)).toBe(2);
});

test("a selected run that has ended meanwhile does not count as cancelled", async () => {
  const statuses = ["cancelled", "succeeded", "running", "failed"];
  const client = clientWith({ cancel: async (id: string) => ({ status: statuses[Number(id)] }) });
  const ids = ["0", "1", "2", "3"];
  const progress: number[] = [];
  const changed = await applyToMany(client, "cancel", { ids }, (n) => progress.push(n), never);
  expect([changed, progress]).toEqual([2, [1, 2]]);
});

test("a run whose change is confirmed after a failure of another is counted", async () => {
  const late = Promise.withResolvers<void>();
  const client = clientWith({
    delete: async (id: string) => {
      if (id === "run_1") return late.promise;
      throw new BeckonError({ code: "unavailable", message: "It is unavailable.", status: 503 });
    },
  });
  const progress: number[] = [];
  const ids = ["run_1", "run_2"];
  const ended = applyToMany(client, "delete", { ids }, (n) => progress.push(n), never);
  setImmediate(late.resolve);
  await expect(ended).rejects.toThrow("unavailable");
  expect(progress).toEqual([1]);
});

test("a failure stops, and says how many were changed before", async () => {
  const tried: string[] = [];
  const client = clientWith({
    delete: async (id: string) => {
      tried.push(id);
      throw new BeckonError({ code: "unavailable", message: "It is unavailable.", status: 503 });
    },
  });
  const ids = Array.from({ length: 50 }, (_, index) => `run_${index}`);
  await expect(applyToMany(client, "delete", { ids }, () => {}, never)).rejects.toThrow(
    "unavailable",
  );
  expect(tried.length).toBeLessThan(5);
});
