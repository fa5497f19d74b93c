import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";

test("an import of the client does nothing that Cloudflare Workers forbid in global scope", async () => {
  // In this process, other tests can have loaded the modules already.
  const importing = new Worker(
    `
      for (const name of ["AbortController", "fetch", "setTimeout"])
        globalThis[name] = function () { throw new Error(name + " in global scope"); };
      import(${JSON.stringify(import.meta.resolve("./index.ts"))});
    `,
    { eval: true },
  );
  // If the import fails, the event `error` comes first, and `once` rejects.
  expect(await once(importing, "exit")).toEqual([0]);
});
