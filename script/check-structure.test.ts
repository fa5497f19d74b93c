import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import * as structure from "./structure.ts";

/**
 * Runs the real tools with the real settings on file trees that break every rule. A run on the
 * repository itself would not show whether a rule works: a rule without effect reports nothing, and
 * so does a rule that no file breaks.
 */

const root = resolve(import.meta.dirname, "..");
const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** Creates a folder with the repository's settings and these files. */
function tree(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "beckon-check-"));
  made.push(folder);
  for (const name of [
    "biome.json",
    ".dependency-cruiser.mjs",
    "knip.jsonc",
    "tsconfig.json",
    "package.json",
    ".gitignore",
  ]) {
    cpSync(join(root, name), join(folder, name));
  }
  for (const workspace of ["contract", "server", "client", "e2e"]) {
    cpSync(join(root, workspace, "package.json"), join(folder, workspace, "package.json"));
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

function run(
  folder: string,
  command: string,
  args: string[],
  env: Record<string, string> = {},
): { status: number | null; output: string } {
  const file = join(root, "node_modules/.bin", command);
  const { status, stdout, stderr } = spawnSync(file, args, {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  return { status, output: stdout + stderr };
}

const cruise = ["--config", ".dependency-cruiser.mjs"];

function graphOf(folder: string, env: Record<string, string> = {}): structure.Graph {
  return JSON.parse(
    run(
      folder,
      "depcruise",
      [...cruise, "--output-type", "json", "contract", "server", "client", "e2e"],
      env,
    ).output,
  );
}

/** Returns `rule: from → to` of each violation, sorted. */
function violationsOf(folder: string): string[] {
  return graphOf(folder)
    .summary.violations.map(
      ({ rule, from, to }) => `${rule.name}: ${from} → ${to.replace(/^.*node_modules\//, "")}`,
    )
    .sort();
}

/** Joins parts of a text. The checks would report the text if this file contained it as a whole. */
const word = (...parts: string[]) => parts.join("");
const name = (value: string) => `export const ${value} = 1;\n`;
const use = (...paths: string[]) => paths.map((path) => `import "${path}";\n`).join("");

/** A small file tree that breaks no rule. */
const validTree = {
  "contract/src/index.ts": 'export { wire } from "./wire.ts";\n',
  "contract/src/wire.ts": name("wire"),
  "client/src/index.ts": use("./call.ts"),
  "client/src/call.ts": name("call"),
  "server/src/main.ts": use(
    "./config.ts",
    "./http/index.ts",
    "./worker.ts",
    "./base/database/index.ts",
  ),
  "server/src/index.ts": name("start"),
  "server/src/config.ts": use("./base/errors.ts"),
  "server/src/worker.ts": use("./runs/index.ts", "./engine/index.ts", "./config.ts"),
  "server/src/http/index.ts": use("hono", "../triggers/index.ts", "./api/index.ts"),
  "server/src/http/api/index.ts": use("./agents.ts"),
  "server/src/http/api/agents.ts": use("../../agents/index.ts", "../../tokens/index.ts"),
  "server/src/triggers/index.ts": use("../runs/index.ts"),
  "server/src/runs/index.ts": use("../agents/index.ts", "../engine/index.ts", "./store.ts"),
  "server/src/runs/store.ts": use("kysely", "../base/database/index.ts"),
  "server/src/runs/start.db.test.ts": use(
    "../agents/create.ts",
    "../../test/database.ts",
    "vitest",
  ),
  "server/src/agents/index.ts": use("./create.ts"),
  "server/src/agents/create.ts": use("../tokens/index.ts", "../keys/index.ts"),
  "server/src/tokens/index.ts": use("../base/secrets/index.ts"),
  "server/src/keys/index.ts": use("../base/errors.ts", "../base/database/embedded/index.ts"),
  "server/src/engine/index.ts": use("../base/errors.ts", "@beckon/contract"),
  "server/src/base/errors.ts": name("errors"),
  "server/src/base/context.ts": use("./database/index.ts"),
  "server/src/base/secrets/index.ts": use("../database/index.ts", "./seal.ts"),
  "server/src/base/secrets/seal.ts": use("../errors.ts"),
  "server/src/base/database/index.ts": use("pg", "kysely"),
  "server/src/base/database/embedded/index.ts": name("startEmbedded"),
  "server/test/database.ts": use("pg", "../src/base/database/index.ts"),
  "e2e/journey.test.ts": use("../server/src/index.ts", "../server/test/database.ts"),
};

test("a valid tree has no findings", () => {
  const folder = tree(validTree);
  expect(violationsOf(folder)).toEqual([]);
  expect(structure.findings(structure.readRepository(folder), graphOf(folder))).toEqual([]);
});

test("every violation of the import rules is found, and nothing else", () => {
  const folder = tree({
    ...validTree,
    // Imports from a lower layer to a higher one, one import for each layer.
    "server/src/http/up.ts": use("../main.ts"),
    "server/src/triggers/up.ts": use("../http/index.ts"),
    "server/src/runs/up.ts":
      'import type { t } from "../triggers/index.ts";\nexport type T = typeof t;\n',
    "server/src/agents/up.ts": use("../runs/index.ts"),
    "server/src/keys/up.ts": use("../agents/index.ts"),
    "server/src/base/up.ts": use("../keys/index.ts"),
    "server/src/engine/up.ts": use("../worker.ts"),
    // Imports of another module in the same layer.
    "server/src/tokens/side.ts": use("../keys/index.ts"),
    "server/src/usage/side.ts": use("../engine/index.ts"),
    "server/src/engine/side.ts": use("../providers/index.ts"),
    "server/src/providers/index.ts": name("provider"),
    "server/src/http/side.ts": use("../worker.ts"),
    // Imports that bypass the index.ts of a folder.
    "server/src/triggers/past.ts": use("../agents/create.ts"),
    "server/src/past.ts": use("./runs/store.ts", "./base/secrets/seal.ts"),
    "server/src/base/audit/past.ts": use("../secrets/seal.ts"),
    "server/src/http/inside.ts": use("./api/agents.ts"),
    // Imports of packages and settings outside the folders that are allowed to import them.
    "server/src/runs/packages.ts": use("pg", "kysely", "hono", "vitest"),
    "server/src/engine/packages.ts": use("../base/database/index.ts", "../base/context.ts"),
    "server/src/agents/settings.ts": use("../config.ts"),
    "contract/src/node.ts": use("node:fs", "../../server/src/base/errors.ts"),
    "client/src/node.ts": use("node:fs", "../../contract/src/wire.ts"),
    // Production code that imports tests, an e2e test that imports an internal file, a folder
    // without a layer, an import of a file that does not exist.
    "server/src/runs/tests.ts": use("./start.db.test.ts", "../../test/database.ts"),
    "e2e/inside.test.ts": use("../server/src/base/errors.ts"),
    "server/src/queues/index.ts": use("../base/errors.ts"),
    "server/src/nowhere.ts": use("./queues/index.ts", "./gone.ts"),
    "web/src/app.ts": use("@beckon/contract", "../../server/src/base/errors.ts"),
    "web/src/shell/index.ts": "",
    "web/src/ui/index.ts": "",
    "web/src/format/index.ts": use("node:fs", "../ui/index.ts"),
    "web/src/json/index.ts": use("../charts/index.ts"),
    "web/src/charts/index.ts": "",
    "web/src/runs/index.ts": "",
    "web/src/runs/run-screen.tsx": use("../shell/index.ts"),
    "web/src/agents/agent-screen.tsx": use("../runs/index.ts", "../runs/run-screen.tsx"),
    "web/src/widgets/one.ts": use("../ui/index.ts"),
  });
  const web = run(folder, "depcruise", [...cruise, "web"]);
  expect([...web.output.matchAll(/error (.*)/g)].map(([, found]) => found).sort()).toEqual([
    "every-folder-of-web-has-a-layer: web/src/widgets/one.ts → web/src/ui/index.ts",
    "no-import-sideways-from-web-json: web/src/json/index.ts → web/src/charts/index.ts",
    "no-import-upward-from-web-format: web/src/format/index.ts → web/src/ui/index.ts",
    "no-import-upward-from-web-overview: web/src/runs/run-screen.tsx → web/src/shell/index.ts",
    "only-index-of-web-runs: web/src/agents/agent-screen.tsx → web/src/runs/run-screen.tsx",
    "web-knows-contract-and-client-only: web/src/app.ts → server/src/base/errors.ts",
    "web-runs-in-browsers: web/src/format/index.ts → fs",
  ]);
  expect(violationsOf(folder)).toEqual([
    "client-runs-anywhere: client/src/node.ts → fs",
    "client-stands-alone: client/src/node.ts → contract/src/wire.ts",
    "config-only-at-the-top: server/src/agents/settings.ts → server/src/config.ts",
    "contract-runs-anywhere: contract/src/node.ts → fs",
    "contract-stands-alone: contract/src/node.ts → server/src/base/errors.ts",
    "engine-knows-no-database-no-http-no-workspace: server/src/engine/packages.ts → server/src/base/context.ts",
    "engine-knows-no-database-no-http-no-workspace: server/src/engine/packages.ts → server/src/base/database/index.ts",
    "every-folder-has-a-layer: server/src/queues/index.ts → server/src/base/errors.ts",
    "every-imported-folder-has-a-layer: server/src/nowhere.ts → server/src/queues/index.ts",
    "http-framework-only-in-http: server/src/runs/packages.ts → hono/dist/types/index.d.ts",
    "imports-exist: server/src/nowhere.ts → ./gone.ts",
    "journeys-stay-outside: e2e/inside.test.ts → server/src/base/errors.ts",
    "no-import-sideways-from-engine: server/src/engine/side.ts → server/src/providers/index.ts",
    "no-import-sideways-from-http: server/src/http/side.ts → server/src/worker.ts",
    "no-import-sideways-from-tokens: server/src/tokens/side.ts → server/src/keys/index.ts",
    "no-import-sideways-from-usage: server/src/usage/side.ts → server/src/engine/index.ts",
    "no-import-upward-from-agents: server/src/agents/up.ts → server/src/runs/index.ts",
    "no-import-upward-from-base: server/src/base/up.ts → server/src/keys/index.ts",
    "no-import-upward-from-entry-points: server/src/http/up.ts → server/src/main.ts",
    "no-import-upward-from-other-modules-and-the-engine: server/src/engine/up.ts → server/src/worker.ts",
    "no-import-upward-from-other-modules-and-the-engine: server/src/keys/up.ts → server/src/agents/index.ts",
    "no-import-upward-from-runs: server/src/runs/up.ts → server/src/triggers/index.ts",
    "no-import-upward-from-triggers: server/src/triggers/up.ts → server/src/http/index.ts",
    "no-tests-in-production: server/src/runs/tests.ts → server/src/runs/start.db.test.ts",
    "no-tests-in-production: server/src/runs/tests.ts → server/test/database.ts",
    "no-undeclared-packages: server/src/runs/packages.ts → vitest/dist/index.d.ts",
    "only-index-of-agents: server/src/triggers/past.ts → server/src/agents/create.ts",
    "only-index-of-base-secrets: server/src/base/audit/past.ts → server/src/base/secrets/seal.ts",
    "only-index-of-base-secrets: server/src/past.ts → server/src/base/secrets/seal.ts",
    "only-index-of-http-api: server/src/http/inside.ts → server/src/http/api/agents.ts",
    "only-index-of-runs: server/src/past.ts → server/src/runs/store.ts",
    "pg-only-in-database: server/src/runs/packages.ts → pg/esm/index.mjs",
    "sql-only-in-stores: server/src/runs/packages.ts → kysely/dist/index.js",
  ]);
});

test("circular imports are found, also of types only", () => {
  const folder = tree({
    "server/src/runs/a.ts": 'import type { B } from "./b.ts";\nexport interface A { b: B }\n',
    "server/src/runs/b.ts": 'import type { C } from "./c.ts";\nexport interface B { c: C }\n',
    "server/src/runs/c.ts": 'import { type A } from "./a.ts";\nexport interface C { a: A }\n',
  });
  expect(violationsOf(folder)).toEqual([
    expect.stringMatching(/^no-circles: server\/src\/runs\/[abc]\.ts/),
  ]);
});

test("a graph that lacks files or imports is found", () => {
  const files = [
    {
      path: "server/src/main.ts",
      text: 'import { a } from "./a.ts";\nexport type B = import("./b.ts").B;\n',
    },
  ];
  const graph = (modules: structure.Graph["modules"]): structure.Graph => ({
    modules,
    summary: { violations: [] },
  });
  expect(structure.missingFromGraph(files, graph([]))).toEqual([
    "graph: server/src/main.ts was not seen by dependency-cruiser (it saw 0 modules)",
  ]);
  expect(
    structure.missingFromGraph(
      files,
      graph([{ source: "server/src/main.ts", dependencies: [{ module: "./a.ts" }] }]),
    ),
  ).toEqual([
    'graph: server/src/main.ts imports "./b.ts", which dependency-cruiser did not see; use an import statement',
  ]);
  expect(structure.missingFromGraph([], graph([]))).toEqual([
    "graph: there is no source file to check",
  ]);
});

test("without a parser for TypeScript the structure check fails", () => {
  const folder = tree({
    ...validTree,
    // TypeScript 7 has no parser API, so without swc dependency-cruiser has no parser.
    "no-swc.mjs": `
      import { registerHooks } from "node:module";
      registerHooks({
        resolve(specifier, context, next) {
          if (specifier.startsWith("@swc/")) throw new Error("not installed");
          return next(specifier, context);
        },
      });`,
  });
  const graph = graphOf(folder, { NODE_OPTIONS: `--import=${join(folder, "no-swc.mjs")}` });
  expect(graph.modules).toEqual([]);
  expect(graph.summary.violations).toEqual([]);
  expect(structure.missingFromGraph(structure.readRepository(folder), graph)).toHaveLength(
    Object.keys(validTree).length,
  );
});

const linted: [rule: string, path: string, text: string][] = [
  ["noExplicitAny", "server/src/a.ts", "export const a: any = 1;\n"],
  ["noNonNullAssertion", "server/src/a.ts", "export const a = [1][0]!;\n"],
  ["noReExportAll", "server/src/index.ts", 'export * from "./a.ts";\n'],
  ["noDefaultExport", "server/src/a.ts", "export default 1;\n"],
  ["noConsole", "server/src/supervise.ts", 'console.log("a");\n'],
  ["noProcessEnv", "server/src/worker.ts", "export const a = process.env;\n"],
  ["noProcessEnv", "server/src/config.ts", "export const a = process.env;\n"],
  [
    "noProcessEnv",
    "server/src/runs/a.ts",
    'import { env } from "node:process";\nexport const a = env.HOME;\n',
  ],
  [
    "useNodejsImportProtocol",
    "server/src/a.ts",
    'import { join } from "path";\nexport const a = join;\n',
  ],
  ["useImportType", "server/src/a.ts", 'import { URL } from "node:url";\nexport type A = URL;\n'],
  ["noUnusedImports", "server/src/a.ts", 'import { join } from "node:path";\n'],
  ["noUnusedVariables", "server/src/a.ts", "const a = 1;\n"],
  [
    "noFloatingPromises",
    "server/src/a.ts",
    "async function a(): Promise<void> {}\nexport function b(): void {\n  a();\n}\n",
  ],
  [
    "noFocusedTests",
    "server/src/a.test.ts",
    word('import { test } from "vitest";\ntest.', 'only("a", () => {});\n'),
  ],
  ["format", "server/src/a.ts", "export const a = 'single';\n"],
];

test.each(linted)("lint reports %s in %s", (rule, path, text) => {
  const { status, output } = run(tree({ [path]: text }), "biome", [
    "check",
    "--error-on-warnings",
    path,
  ]);
  expect(output).toContain(rule);
  expect(status).toBe(1);
});

test("lint allows exceptions where they are needed", () => {
  const allowed = {
    "server/src/supervise.ts": "export const a = process.env;\n",
    "server/src/main.ts": "export const a = process.env;\n",
    "server/src/runs/index.ts": 'export { a } from "../main.ts";\n',
    "vitest.config.ts": "export default {};\n",
    "script/say.ts": 'console.log("a");\n',
  };
  const { status, output } = run(tree(allowed), "biome", [
    "check",
    "--error-on-warnings",
    ...Object.keys(allowed),
  ]);
  expect(output).not.toContain("lint/");
  expect(status).toBe(0);
});

test("unused files, exports and packages are found", () => {
  const { status, output } = run(
    tree({
      "server/src/main.ts": 'import { used } from "./used.ts";\nused();\n',
      "server/src/used.ts": "export const used = () => {};\nexport const unusedExport = 1;\n",
      "server/src/lonely.ts": "export const lonely = 1;\n",
    }),
    "knip",
    ["--no-progress"],
  );
  expect(output).toMatch(/Unused files[\s\S]*server\/src\/lonely\.ts/);
  expect(output).toMatch(/Unused dependencies[\s\S]*pino\s+server\/package\.json/);
  expect(output).toMatch(/Unused exports[\s\S]*unusedExport\s+server\/src\/used\.ts/);
  expect(status).toBe(1);
});

const linesOf = (count: number, first = "") => `${first}${"x;\n".repeat(count)}`;

test("long files without a reason and missed length targets are found", () => {
  const file = (path: string, text: string) => ({ path, text });
  expect(structure.tooLong([file("server/src/a.ts", linesOf(501))])).toHaveLength(1);
  expect(structure.tooLong([file("server/src/a.ts", linesOf(500))])).toEqual([]);
  expect(structure.tooLong([file("web/src/a.tsx", linesOf(401))])).toHaveLength(1);
  expect(structure.tooLong([file("web/src/a.tsx", linesOf(400))])).toEqual([]);
  expect(
    structure.tooLong([
      file("server/src/a.ts", linesOf(501, "/** Long because it is one table. */\n")),
    ]),
  ).toEqual([]);
  expect(
    structure.tooLong([
      file(
        "server/src/a.ts",
        linesOf(501, 'import { b } from "./b.ts";\n/** Long because of that. */\n'),
      ),
    ]),
  ).toEqual([]);
  expect(
    structure.missedLengthTargets(
      [79, 79, 79].map((count) => file(`server/src/${count}.ts`, linesOf(count))),
    ),
  ).toEqual([]);
  expect(
    structure.missedLengthTargets(
      [10, 80, 300].map((count) => file(`server/src/${count}.ts`, linesOf(count))),
    ),
  ).toEqual([
    "length: the median file has 80 lines; aim for less than 80",
    "length: the 90th percentile is 300 lines; aim for less than 220",
  ]);
});

test("names of a kind, such as utils, are found", () => {
  const named = (path: string) => structure.vagueNames([{ path, text: "" }]).length;
  const empty = [
    "utils.ts",
    "helpers/a.ts",
    "lib/a.ts",
    "runs/types.ts",
    "common.ts",
    "shared/a.ts",
    "http/string-utils.ts",
  ];
  expect(empty.map((path) => named(`server/src/${path}`))).toEqual(empty.map(() => 1));
  expect(
    ["library.ts", "runs/tables.ts", "typed.ts"].map((path) => named(`server/src/${path}`)),
  ).toEqual([0, 0, 0]);
});

test("SQL outside a store is found", () => {
  const stray = (path: string, text: string) =>
    structure.misplacedSql([{ path: `server/src/${path}`, text }]).length;
  expect(stray("runs/start.ts", "await sql`select 1`")).toBe(1);
  expect(stray("runs/start.ts", 'tx.selectFrom("runs")')).toBe(1);
  expect(stray("runs/start.ts", 'engine.query<Row>("select 1")')).toBe(1);
  expect(stray("http/page.ts", 'c.req.query("after")')).toBe(0);
  expect(stray("runs/store.ts", "await sql`select 1`")).toBe(0);
  expect(stray("runs/start-statement.ts", "await sql`select 1`")).toBe(0);
  expect(stray("runs/start-store.ts", 'tx.selectFrom("runs")')).toBe(0);
});

test("a part of a statement is found if no comment of its file begins with Returns SQL", () => {
  const stray = (path: string, text: string) =>
    structure.unannouncedSql([{ path: `server/src/${path}`, text }]).length;
  const part = (comment: string, sql: string) => `${comment}\nexport const part = \`${sql}\`;\n`;
  const announced = "/** Returns SQL that reads the runs. */";
  for (const sql of [
    "(select id\n  from runs where id = $1)",
    "insert into runs (id) values ($1)",
    "update runs r set last_seq = 1",
    "delete from runs where id = $1",
  ]) {
    expect(stray("runs/part.ts", part("/** Reads the runs. */", sql))).toBe(1);
    expect(stray("runs/part.ts", part(announced, sql))).toBe(0);
    expect(stray("runs/part.ts", part(announced.replace("/** ", "/**\n * "), sql))).toBe(0);
    expect(stray("runs/store.ts", part("", sql))).toBe(0);
  }
  expect(stray("runs/part.ts", "/** Waits for `select id from runs`. */\n")).toBe(0);
  expect(stray("runs/part.ts", "// Waits for `delete from runs`.\n")).toBe(0);
});

test("disabled tests and notes to do something later are found", () => {
  const left = (path: string, text: string) => structure.leftBehind([{ path, text }]).length;
  expect(left("server/src/a.test.ts", word("test.", 'skip("a")'))).toBe(1);
  expect(left("server/src/a.test.ts", word("describe.", 'only("a")'))).toBe(1);
  expect(left("server/src/a.test.ts", 'test.skipIf(x)("a")')).toBe(0);
  expect(left("server/src/a.ts", word("// TO", "DO later"))).toBe(1);
  expect(left("script/a", word("# FIX", "ME"))).toBe(1);
});

test("registry addresses and absolute paths are found", () => {
  const found = (path: string, text: string) => structure.machineBound([{ path, text }]).length;
  const lock = (resolved: string) =>
    `{ "packages": { "node_modules/a": { "resolved": "${resolved}" } } }`;
  expect(found("package-lock.json", lock("server"))).toBe(0);
  expect(
    found("package-lock.json", lock(word("https://registry", ".example.com/a/-/a-1.0.0.tgz"))),
  ).toBe(1);
  expect(found("package-lock.json", lock(word("http://10.0.0.1", ":4873/a.tgz")))).toBe(1);
  expect(found("package-lock.json", lock("/home/me/a"))).toBeGreaterThan(0);
  expect(found("package-lock.json", '{ "node_modules/a": { "version": "file:/home/me/a" } }')).toBe(
    1,
  );
  expect(found("README.md", word("https://registry", ".npmjs.org/"))).toBe(1);
  expect(found(".npmrc", word("regis", "try=http://localhost"))).toBe(1);
});

test("a lock file that npm ci would reject is found", () => {
  const lock = (held: string[]) => {
    const packages = {
      "node_modules/a": { optionalDependencies: { "a-linux": "1.0.0", "a-darwin": "1.0.0" } },
    };
    const entries = Object.fromEntries(held.map((held) => [`node_modules/${held}`, {}]));
    return [
      {
        path: "package-lock.json",
        text: JSON.stringify({ packages: { ...packages, ...entries } }),
      },
    ];
  };
  expect(structure.incompleteLock(lock(["a-linux", "a-darwin"]))).toEqual([]);
  expect(structure.incompleteLock(lock(["a-linux"]))).toHaveLength(1);
});

test("a comment above 100 columns is found, a table or a URL is not", () => {
  const wide = (line: string) =>
    structure.wideComments([{ path: "server/src/a.ts", text: `${line}\n` }]);
  expect(wide(`// ${"word ".repeat(20)}`)).toEqual([
    "width: server/src/a.ts:1: 103 columns; wrap it at 100",
  ]);
  expect(wide(`// ${"word ".repeat(19)}`)).toEqual([]);
  expect(wide(`//   name     ${"word ".repeat(20)}`)).toEqual([]);
  expect(wide(`// https://example.com/${"x".repeat(100)}`)).toEqual([]);
});
