import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

test("sessions work again after a file of better-auth could not be read while it initialised", () => {
  // The script runs in a process of its own. In this process other tests have already loaded all
  // files of better-auth, so no load could fail any more.
  const script = `
    import { registerHooks } from "node:module";
    let isFirst = true;
    registerHooks({ load(url, context, next) {
      if (isFirst && url.endsWith("/better-auth/dist/adapters/kysely-adapter/index.mjs")) {
        isFirst = false;
        throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
      }
      return next(url, context);
    } });
    const { createAuth } = await import(${JSON.stringify(join(import.meta.dirname, "auth.ts"))});
    const auth = createAuth({ database: { accounts: {} }, masterKey: Buffer.alloc(32), secure: false });
    const results = [];
    for (let attempt = 0; attempt < 2; attempt++)
      results.push(await auth.find("").then((found) => found ?? "no session", ({ code }) => code));
    console.log(JSON.stringify(results));
  `;
  const flags = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", script];
  const output = execFileSync(process.execPath, flags, { encoding: "utf8" });
  expect(JSON.parse(output)).toEqual(["unavailable", "no session"]);
});
