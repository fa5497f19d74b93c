import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { checkout, freePort, startProduct, temporaryFolder } from "./product.ts";

test("the packed tarball starts from inside a node_modules folder and serves the dashboard", async () => {
  const folder = temporaryFolder();
  execFileSync(join(checkout, "script/pack"), [folder], { stdio: "pipe" });
  execFileSync("tar", ["-xzf", join(folder, tarballName()), "-C", folder]);
  const modules = join(folder, "node_modules");
  const beckon = join(modules, "beckon");
  mkdirSync(modules);
  renameSync(join(folder, "package"), beckon);
  linkPackages(beckon, modules);

  const port = await freePort();
  const bootstrapKey = `bootstrap_${"0123456789".repeat(4)}`;
  const product = await startProduct(
    {
      PORT: String(port),
      BECKON_DATA_DIR: join(folder, "data"),
      BECKON_EGRESS_ALLOW: "",
      BECKON_BOOTSTRAP_KEY: bootstrapKey,
    },
    [join(beckon, "bin/beckon")],
    folder,
  );
  const url = `http://127.0.0.1:${port}`;
  const page = await (await fetch(url)).text();
  expect(page).toContain('<div id="root">');
  const [, script = ""] = /<script type="module"[^>]* src="([^"]+)"/.exec(page) ?? [];
  expect((await fetch(url + script)).headers.get("content-type")).toMatch(/^text\/javascript/);
  const { id, token } = product.demo();
  const run = await fetch(`${url}/api/public/agents/${id}/invoke`, {
    method: "POST",
    headers: { "x-api-key": token, "content-type": "application/json" },
    body: '{"input":"Hello"}',
  });
  expect(run.status).toBe(200);

  // The child process that evaluates filters and templates is JavaScript in the package, and finds
  // packages that are symbolic links.
  const call = async (path: string, body: object) => {
    const response = await fetch(`${url}/api/public/agents/${id}/triggers${path}`, {
      method: "POST",
      headers: { "x-api-key": bootstrapKey, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return ((await response.json()) as { data: { id: string } }).data;
  };
  const trigger = await call("", { name: "Packed" });
  const receiving = { filter: "payload.a > 1", template: "a is {{ payload.a }}" };
  expect(
    await call(`/${trigger.id}/preview`, { request: { payload: { a: 2 } }, receiving }),
  ).toMatchObject({ passes: true, input: "a is 2", mistakes: [] });
  expect(await product.stop()).toBe(0);
});

function tarballName(): string {
  const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  return `beckon-${version}.tgz`;
}

/** Links only the packages that the package.json of `beckon` names, from the checkout. */
function linkPackages(beckon: string, modules: string): void {
  const manifest = JSON.parse(readFileSync(join(beckon, "package.json"), "utf8"));
  const names = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  for (const name of names) {
    const path = ["server/node_modules", "node_modules"]
      .map((each) => join(checkout, each, name))
      .find(existsSync);
    if (path === undefined) continue; // an optional package for another platform
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(path, join(modules, name));
  }
}
