import { expect, onTestFinished, test, vi } from "vitest";
import { createEgress } from "./index.ts";
import { createLookups, limitSlowLookups } from "./resolve-host.ts";

const timeouts = {
  connectTimeoutMs: 20_000,
  headersTimeoutMs: 20_000,
  bodyTimeoutMs: 20_000,
  totalTimeoutMs: 20_000,
};

test("the address of a URL is found although lookups of other workspaces hang", async () => {
  const hanging: PromiseWithResolvers<readonly string[]>[] = [];
  const resolve = async (name: string) => {
    if (!name.startsWith("silent")) return ["10.0.0.1"];
    const lookup = Promise.withResolvers<readonly string[]>();
    hanging.push(lookup);
    return lookup.promise;
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

test("two transports share the turns of names that were not looked up", async () => {
  const hanging = vi.fn<(name: string) => Promise<readonly string[]>>(() => new Promise(() => {}));
  const lookups = createLookups(hanging);
  for (const transport of ["a", "b"]) {
    const egress = createEgress({ ...timeouts, allow: [], lookups });
    onTestFinished(() => egress.close());
    for (let n = 0; n < 10; n++)
      void egress.fetch(`http://n.${transport}${n}.test/`).catch(() => undefined);
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect(hanging).toHaveBeenCalledTimes(8);
});

test("names that were not looked up fast take turns, by domain, and delay no other name", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  let isSilent = false;
  const lookups: PromiseWithResolvers<readonly string[]>[] = [];
  const resolve = limitSlowLookups(async (name) => {
    const lookup = Promise.withResolvers<readonly string[]>();
    lookups.push(lookup);
    if (!isSilent || name === "tool.test") lookup.resolve([name]);
    return lookup.promise;
  });
  /** Lets the lookups begin that have a turn. */
  const begin = () => new Promise((resolve) => setImmediate(resolve));
  const namesOf = (domain: string) => Array.from({ length: 10 }, (_, n) => `n${n}.${domain}`);
  const [some, others] = [namesOf("one.test"), namesOf("two.test")];
  const end = async (waiting: readonly Promise<readonly string[]>[]) => {
    isSilent = false;
    for (const lookup of lookups.splice(0)) lookup.resolve(["found"]);
    await Promise.all(waiting);
  };
  await resolve("tool.test");
  lookups.length = 0;

  isSilent = true;
  const first = some.map(resolve);
  await begin();
  expect(lookups).toHaveLength(4);
  const second = others.map(resolve);
  await begin();
  expect(lookups).toHaveLength(8);
  expect(await resolve("tool.test")).toEqual(["tool.test"]);
  await end([...first, ...second]);
  // All lookups were fast, so these names wait for others of their domain only, and for no new one.
  lookups.length = 0;
  isSilent = true;
  const third = [...some, ...namesOf("three.test"), ...namesOf("four.test")].map(resolve);
  await begin();
  expect(lookups).toHaveLength(4 + 8);
  vi.advanceTimersByTime(2_500);
  await end(third);
  // Now the first four were slow.
  lookups.length = 0;
  isSilent = true;
  const fourth = [...some.slice(0, 4), "new.one.test"].map(resolve);
  await begin();
  expect(lookups).toHaveLength(4);
  await end(fourth);
});

test("a name that waits too long for its turn cannot be looked up now", async () => {
  const { timeout } = AbortSignal;
  vi.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout(1));
  const resolve = limitSlowLookups(() => new Promise(() => {}));
  for (let n = 0; n < 4; n++) void resolve(`n${n}.silent.test`);
  await expect(resolve("last.silent.test")).rejects.toMatchObject({ code: "EAI_AGAIN" });
});
