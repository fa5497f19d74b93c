import { expect, onTestFinished, test, vi } from "vitest";
import { createEgress, onBehalfOf } from "./index.ts";
import { createLookups, limitSlowLookups } from "./resolve-host.ts";

const timeouts = {
  connectTimeoutMs: 20_000,
  headersTimeoutMs: 20_000,
  bodyTimeoutMs: 20_000,
  totalTimeoutMs: 20_000,
};

/** 40 names of 20 domains. */
const silentNames = Array.from({ length: 40 }, (_, n) => `n${n}.domain${n % 20}.test`);

/** Ignores that a lookup gets no turn. */
const ignored = (lookup: Promise<unknown>) => void lookup.catch(() => undefined);

/** Lets the lookups begin that have a turn. */
const begin = () => new Promise((resolve) => setImmediate(resolve));

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
      onBehalfOf(`wsp_${n}`, () => ignored(egress.fetch(`http://${transport}${n}.test/`)));
  }
  await begin();
  expect(hanging).toHaveBeenCalledTimes(8);
});

test("the calls of a workspace share the turns of one workspace", async () => {
  const hanging = vi.fn<(name: string) => Promise<readonly string[]>>(() => new Promise(() => {}));
  const egress = createEgress({ ...timeouts, allow: [] }, { resolve: hanging });
  onTestFinished(() => egress.close());
  const call = (name: string) => ignored(egress.fetch(`http://${name}/`));
  onBehalfOf("wsp_1", () => silentNames.forEach(call));
  onBehalfOf("wsp_2", () => call("new.test"));
  await begin();
  expect(hanging.mock.calls.flat()).toEqual([...silentNames.slice(0, 4), "new.test"]);
});

test("names that were not looked up fast take turns, by workspace, and delay no other name", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  let isSilent = false;
  const lookups: PromiseWithResolvers<readonly string[]>[] = [];
  const lookUp = limitSlowLookups(async (name) => {
    const lookup = Promise.withResolvers<readonly string[]>();
    lookups.push(lookup);
    if (!isSilent || name === "tool.test") lookup.resolve([name]);
    return lookup.promise;
  });
  const namesOf = (domain: string) => Array.from({ length: 10 }, (_, n) => `n${n}.${domain}`);
  const lookUpAll = (workspaceId: string, names: readonly string[]) =>
    names.map((name) => lookUp(name, workspaceId));
  const [some, others] = [namesOf("one.test"), namesOf("two.test")];
  const end = async (waiting: readonly Promise<readonly string[]>[]) => {
    isSilent = false;
    for (const lookup of lookups.splice(0)) lookup.resolve(["found"]);
    await Promise.all(waiting);
  };
  await lookUp("tool.test", "wsp_1");
  lookups.length = 0;

  isSilent = true;
  const first = lookUpAll("wsp_1", some);
  await begin();
  expect(lookups).toHaveLength(4);
  const second = lookUpAll("wsp_2", others);
  await begin();
  expect(lookups).toHaveLength(8);
  expect(await lookUp("tool.test", "wsp_1")).toEqual(["tool.test"]);
  await end([...first, ...second]);
  // All lookups were fast, so these names wait for others of their workspace only, and for no new
  // one.
  lookups.length = 0;
  isSilent = true;
  const third = [
    ...lookUpAll("wsp_1", [...some, ...namesOf("three.test")]),
    ...lookUpAll("wsp_2", namesOf("four.test")),
  ];
  await begin();
  expect(lookups).toHaveLength(4 + 8);
  vi.advanceTimersByTime(2_500);
  await end(third);
  // Now the first four were slow.
  lookups.length = 0;
  isSilent = true;
  const fourth = lookUpAll("wsp_1", [...some.slice(0, 4), "new.one.test"]);
  await begin();
  expect(lookups).toHaveLength(4);
  await end(fourth);
});

test.each([
  ["were never looked up", false],
  ["were fast before", true],
])(
  "a workspace whose names %s and do not respond delays no name of another workspace",
  async (_what, wereFast) => {
    const begun: string[] = [];
    let isSilent = false;
    const lookUp = createLookups((name) => {
      begun.push(name);
      return isSilent ? new Promise(() => {}) : Promise.resolve(["192.0.2.1"]);
    });
    const known = [...(wereFast ? silentNames : []), "known.test"];
    await Promise.all(known.map((name) => lookUp(name, "wsp_1")));
    begun.length = 0;
    isSilent = true;
    for (const name of silentNames) ignored(lookUp(name, "wsp_1"));
    await begin();
    expect(begun).toEqual(silentNames.slice(0, 4));
    for (const name of ["new.test", "known.test"]) ignored(lookUp(name, "wsp_2"));
    await begin();
    expect(begun.slice(4)).toEqual(["new.test", "known.test"]);
  },
);

test("workspaces share a lookup that has begun, but not one that waits for a turn", async () => {
  const hanging = vi.fn<(name: string) => Promise<readonly string[]>>(() => new Promise(() => {}));
  const lookUp = createLookups(hanging);
  for (const name of [...silentNames, "shared.test"]) ignored(lookUp(name, "wsp_1"));
  await begin();
  expect(hanging).not.toHaveBeenCalledWith("shared.test");
  for (const workspaceId of ["wsp_2", "wsp_3"]) ignored(lookUp("shared.test", workspaceId));
  await begin();
  expect(hanging.mock.calls.flat().slice(4)).toEqual(["shared.test"]);
});

test("a name that waits too long for its turn cannot be looked up now", async () => {
  const { timeout } = AbortSignal;
  vi.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout(1));
  const lookUp = limitSlowLookups(() => new Promise(() => {}));
  for (const name of silentNames.slice(0, 4)) void lookUp(name, "wsp_1");
  await expect(lookUp("last.test", "wsp_1")).rejects.toMatchObject({ code: "EAI_AGAIN" });
});
