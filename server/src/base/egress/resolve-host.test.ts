import { expect, onTestFinished, test, vi } from "vitest";
import { createEgress } from "./index.ts";
import { limitSlowLookups } from "./resolve-host.ts";

test("the address of a URL is found although lookups of other workspaces hang", async () => {
  const hanging: PromiseWithResolvers<readonly string[]>[] = [];
  const resolve = async (name: string) => {
    if (!name.startsWith("silent")) return ["10.0.0.1"];
    const lookup = Promise.withResolvers<readonly string[]>();
    hanging.push(lookup);
    return lookup.promise;
  };
  const timeouts = {
    connectTimeoutMs: 20_000,
    headersTimeoutMs: 20_000,
    bodyTimeoutMs: 20_000,
    totalTimeoutMs: 20_000,
  };
  const egress = createEgress({ ...timeouts, allow: [] }, { resolve });
  onTestFinished(() => egress.close());
  const check = (name: string, workspaceId: string) =>
    egress.missingException(new URL(`http://${name}/`), workspaceId);
  const silent = Array.from({ length: 20 }, (_, n) => check(`silent${n}.test`, "wsp_1"));
  expect(await check("tool.test", "wsp_2")).toBe("tool.test:80");
  expect(await Promise.all(silent)).toEqual(silent.map(() => undefined));
  // A lookup that timed out keeps its thread until the system's resolver ends it. A workspace has
  // at most two lookups at a time, so the others were never started.
  expect(hanging).toHaveLength(2);
  expect(await check("tool.test", "wsp_1")).toBe(undefined);
  hanging[0]?.resolve([]);
  await expect.poll(() => check("tool.test", "wsp_1")).toBe("tool.test:80");
  expect(hanging).toHaveLength(2);
});

test("names whose last lookup was slow are looked up four at a time, and delay no other name", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  let isSilent = true;
  const lookups: PromiseWithResolvers<readonly string[]>[] = [];
  const resolve = limitSlowLookups(async (name) => {
    const lookup = Promise.withResolvers<readonly string[]>();
    lookups.push(lookup);
    if (!isSilent || !name.startsWith("silent")) lookup.resolve([name]);
    return lookup.promise;
  });
  const names = Array.from({ length: 10 }, (_, n) => `silent${n}.test`);
  const first = names.map(resolve);
  vi.advanceTimersByTime(2_500);
  for (const lookup of lookups.splice(0)) lookup.resolve([]);
  await Promise.all(first);

  const second = names.map(resolve);
  expect(await resolve("tool.test")).toEqual(["tool.test"]);
  expect(lookups).toHaveLength(5);
  isSilent = false;
  for (const lookup of lookups) lookup.resolve(["found"]);
  expect((await Promise.all(second)).flat().sort()).toEqual([
    ...Array.from({ length: 4 }, () => "found"),
    ...names.slice(4),
  ]);
  // The last lookups were fast, so no name waits for another any more.
  isSilent = true;
  lookups.length = 0;
  const third = names.map(resolve);
  expect(lookups).toHaveLength(10);
  for (const lookup of lookups) lookup.resolve([]);
  await Promise.all(third);
});
