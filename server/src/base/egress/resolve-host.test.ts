import { expect, onTestFinished, test } from "vitest";
import { createEgress } from "./index.ts";

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
