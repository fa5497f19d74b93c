import { readdirSync } from "node:fs";
import { join, sep } from "node:path";

/**
 * The layers of the server. A layer imports only from layers below it:
 *
 *   main, supervise, index → http, worker → bundles → triggers → runs → agents → workspaces →
 *   members → other modules, engine → credentials → base → contract
 *
 * `import type` counts like any other import. Each rule's comment is printed with its violations.
 * Biome checks the rules within one file; `script/check-structure.ts` checks the others, and that
 * every source file is in the graph: with a parser that reads nothing, every rule would pass.
 */

/**
 * From top to bottom. A layer imports from the layers below it; its folders not from each other.
 */
const layers = [
  { name: "entry points", folders: ["http", "worker"] },
  { name: "supervisor", folders: ["supervisor"] },
  { name: "bundles", folders: ["bundles"] },
  { name: "triggers", folders: ["triggers"] },
  { name: "runs", folders: ["runs"] },
  { name: "agents", folders: ["agents"] },
  { name: "workspaces", folders: ["workspaces"] },
  { name: "members", folders: ["members"] },
  {
    name: "other modules and engine",
    folders: [
      "tokens",
      "keys",
      "events",
      "subscriptions",
      "usage",
      "providers",
      "accounts",
      "processes",
      "engine",
    ],
  },
  { name: "credentials", folders: ["credentials"] },
  { name: "base", folders: ["base"] },
];

/** Imported only through `index.ts`. Not `base`, whose files are imported directly. */
const closedFolders = layers.slice(1, -1).flatMap((layer) => layer.folders);

/** The folders that are in a layer. */
const known = layers.flatMap((layer) => layer.folders);

/** Files directly in `server/src`, except worker.ts and config.ts. They can import everything. */
const top = "^server/src/(?!worker\\.ts$|config\\.ts$)[^/]+\\.ts$";
const entryPoints = "^server/src/(http/|worker(\\.ts$|/))";
const test = "\\.test\\.ts$|^server/test/|^e2e/";
const outsidePackage = ["npm-dev", "npm-no-pkg", "npm-unknown"];

/** Matches a file or folder directly in `server/src` with one of these names. */
const inside = (names) => `^server/src/(${names.join("|")})(/|\\.ts$)`;

const upward = layers.map((layer, position) => ({
  name: `no-import-upward-from-${layer.name.replaceAll(" ", "-")}`,
  comment: `Imports go down only: ${layer.name} cannot import from a layer above. Tests can.`,
  severity: "error",
  from: { path: inside(layer.folders), pathNot: test },
  to: {
    path: [top, ...layers.slice(0, position).map((above) => inside(above.folders))],
    pathNot: "^server/src/config\\.ts$",
  },
}));

const sideways = layers
  .filter((layer) => layer.folders.length > 1)
  .flatMap((layer) =>
    layer.folders.map((folder) => ({
      name: `no-import-sideways-from-${folder}`,
      comment: "Folders of one layer do not import each other. Combine them in a layer above.",
      severity: "error",
      from: { path: inside([folder]) },
      to: { path: inside(layer.folders.filter((other) => other !== folder)) },
    })),
  );

const throughIndex = closedFolders.map((folder) => ({
  name: `only-index-of-${folder}`,
  comment: `${folder}/ is imported through its index.ts. Export names there for other folders.`,
  severity: "error",
  from: { pathNot: [`^server/src/${folder}/`, test, "^bench/"] },
  to: { path: `^server/src/${folder}/`, pathNot: `^server/src/${folder}/index\\.ts$` },
}));

/** Subfolders of the folders in `server/src`, at any depth. */
const subFolders = readdirSync("server/src", { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => join(entry.parentPath, entry.name).split(sep).join("/"))
  .filter((path) => path.split("/").length > 3);

const throughSubIndex = subFolders.map((folder) => ({
  name: `only-index-of-${folder.slice("server/src/".length).replaceAll("/", "-")}`,
  comment: `${folder}/ is imported through its index.ts. Export names there for other folders.`,
  severity: "error",
  from: { pathNot: [`^${folder}/`, test, "^bench/"] },
  to: { path: `^${folder}/`, pathNot: "/index\\.ts$" },
}));

export default {
  forbidden: [
    {
      name: "no-circular-imports",
      comment: "Files that import each other cannot be understood separately. Type imports count.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "imports-exist",
      comment: "The imported file does not exist, so no other rule can check this import.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },

    {
      name: "every-folder-has-a-layer",
      comment: "Add the new folder in server/src to `layers` in .dependency-cruiser.mjs first.",
      severity: "error",
      from: { path: `^server/src/(?!(${known.join("|")})/)[^/]+/` },
      to: {},
    },
    {
      name: "every-imported-folder-has-a-layer",
      comment: "Add the new folder in server/src to `layers` in .dependency-cruiser.mjs first.",
      severity: "error",
      from: {},
      to: { path: `^server/src/(?!(${known.join("|")})/)[^/]+/` },
    },
    ...upward,
    ...sideways,
    ...throughIndex,
    ...throughSubIndex,

    {
      name: "config-only-at-the-top",
      comment: "Settings are read once. Below the entry points they are passed as arguments.",
      severity: "error",
      from: { path: "^server/src/", pathNot: [top, entryPoints, "^server/src/config\\.", test] },
      to: { path: "^server/src/config\\.ts$" },
    },
    {
      name: "config-imports-only-base",
      comment: "config.ts is read before everything else is created.",
      severity: "error",
      from: { path: "^server/src/config\\.ts$" },
      to: { path: "^server/src/", pathNot: "^server/src/base/" },
    },
    {
      name: "engine-imports-no-database-no-http-no-workspace",
      comment:
        "The engine gets model and tools as arguments: it is independent of storage and HTTP.",
      severity: "error",
      from: { path: "^server/src/engine/", pathNot: test },
      to: {
        path: [
          "^server/src/base/(database|audit|idempotency)/",
          "^server/src/base/context(/|\\.ts$)",
          "(^|/)node_modules/(pg|kysely|hono|@hono)/",
        ],
      },
    },

    {
      name: "http-framework-only-in-http",
      comment:
        "Modules do not depend on HTTP, so that all entry points can call the same operations.",
      severity: "error",
      from: { path: "^server/src/", pathNot: ["^server/src/http/", top, test] },
      to: { path: "(^|/)node_modules/(hono|@hono)/" },
    },
    {
      name: "pg-only-in-database",
      comment:
        "Connections are opened only in base/database, which sets their limits and their role.",
      severity: "error",
      from: {
        pathNot: ["^server/src/base/database/", "^server/test/", "^bench/", "node_modules/"],
      },
      to: { path: "(^|/)node_modules/(pg|pg-[^/]+|@types/pg)/" },
    },
    {
      name: "sql-only-in-stores",
      comment: "SQL belongs in base/database or a module's store.ts, *-store.ts or *-statement.ts.",
      severity: "error",
      from: {
        pathNot: [
          "^server/src/base/database/",
          "^server/src/.*[/-](store|statement)\\.ts$",
          test,
          "node_modules/",
        ],
      },
      to: { path: "(^|/)node_modules/kysely/" },
    },

    {
      name: "contract-is-independent",
      comment: "The contract also runs outside the server: it imports no other package.",
      severity: "error",
      from: { path: "^contract/" },
      to: { path: "^(server|web|client|e2e|bench|script)/" },
    },
    {
      name: "contract-runs-anywhere",
      comment: "The contract also runs in browsers, which lack Node's modules.",
      severity: "error",
      from: { path: "^contract/", pathNot: test },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "client-is-independent",
      comment:
        "The client is published as a separate package. It is generated from docs/openapi.json.",
      severity: "error",
      from: { path: "^client/" },
      to: { path: "^(contract|server|web|e2e|bench|script)/" },
    },
    {
      name: "client-runs-anywhere",
      comment:
        "The client also runs in browsers and other fetch runtimes, which lack Node's modules.",
      severity: "error",
      from: { path: "^client/src/", pathNot: test },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "web-imports-only-the-contract",
      comment: "The dashboard uses the public API like every other client.",
      severity: "error",
      from: { path: "^web/" },
      to: { path: "^(server|e2e|bench|script)/" },
    },
    {
      name: "e2e-imports-only-the-index",
      comment:
        "e2e/ starts the server and calls it over HTTP. It imports no other file of the server.",
      severity: "error",
      from: { path: "^e2e/" },
      to: { path: "^server/src/", pathNot: "^server/src/index\\.ts$" },
    },

    {
      name: "no-tests-in-production",
      comment: "Production code does not import tests, test support or scripts.",
      severity: "error",
      from: { path: "^(contract|server|web|client)/src/", pathNot: "\\.test\\.ts$" },
      to: { path: ["\\.test\\.ts$", "^(server/test|client/test|e2e|bench|script)/"] },
    },
    {
      name: "no-undeclared-packages",
      comment: "Production code uses only packages in the dependencies of its own package.json.",
      severity: "error",
      from: { path: "^(contract|server|web|client)/src/", pathNot: "\\.test\\.ts$" },
      to: { dependencyTypes: outsidePackage },
    },
  ],
  options: {
    // TypeScript 7 has no parser API: without another parser no file would be read.
    parser: "swc",
    tsPreCompilationDeps: true,
    // Packages are in the graph but not followed. Nothing is excluded, because no rule applies to
    // an excluded file.
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "types", "default"],
      extensions: [".ts", ".tsx", ".mts", ".js", ".mjs", ".cjs", ".json", ".d.ts"],
    },
    skipAnalysisNotInRules: true,
  },
};
