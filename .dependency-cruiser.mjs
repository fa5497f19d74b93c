import { readdirSync } from "node:fs";
import { join, sep } from "node:path";

/**
 * Enforces the layers of the server. Imports go down only:
 *
 *   main, supervise, index → http, worker, diagnose, backup → supervisor → bundles → triggers →
 *   runs → agents → workspaces → members → limits, subscriptions → deliveries → other modules,
 *   engine → credentials → base → contract
 *
 * The layers of the dashboard are below (`webLayers`).
 *
 * `import type` counts like any other import. A violation is reported with its rule's comment.
 * Biome checks rules within one file. `script/check-structure.ts` checks the other rules of the
 * structure. It also checks that dependency-cruiser has read every source file, because a file that
 * was not read breaks no rule.
 */

/**
 * The layers of the server, from top to bottom. A layer imports lower layers only. Folders in one
 * layer do not import each other.
 */
const layers = [
  { name: "entry points", folders: ["http", "worker", "diagnose", "backup"] },
  { name: "the supervisor", folders: ["supervisor"] },
  { name: "bundles", folders: ["bundles"] },
  { name: "triggers", folders: ["triggers"] },
  { name: "runs", folders: ["runs"] },
  { name: "agents", folders: ["agents"] },
  { name: "workspaces", folders: ["workspaces"] },
  { name: "members", folders: ["members"] },
  { name: "limits and subscriptions", folders: ["limits", "subscriptions"] },
  { name: "deliveries", folders: ["deliveries"] },
  {
    name: "other modules and the engine",
    folders: [
      "tokens",
      "keys",
      "events",
      "usage",
      "reservations",
      "prices",
      "providers",
      "accounts",
      "processes",
      "mapping",
      "received",
      "receiving",
      "retention",
      "engine",
    ],
  },
  { name: "credentials", folders: ["credentials"] },
  { name: "base", folders: ["base"] },
];

/**
 * Folders that are imported through their `index.ts` only: all between the entry points and `base`.
 * Files directly in `base`, such as `base/errors.ts`, are imported themselves.
 */
const closedFolders = layers.slice(1, -1).flatMap((layer) => layer.folders);

/** Folders of the server that belong to a layer. */
const known = layers.flatMap((layer) => layer.folders);

/**
 * Matches the files directly in `server/src` without `worker.ts` and `config.ts`. They can import
 * everything.
 */
const top = "^server/src/(?!worker\\.ts$|config\\.ts$)[^/]+\\.ts$";
const entryPoints = "^server/src/(http/|diagnose/|backup/|worker(\\.ts$|/))";
const test = "\\.test\\.tsx?$|^server/test/|^e2e/";

/** The features of the dashboard. They are one layer, but can import each other. */
const webFeatures = [
  "overview",
  "runs",
  "agents",
  "triggers",
  "providers",
  "keys",
  "subscriptions",
  "usage",
  "plan",
  "limits",
  "prices",
  "members",
  "audit",
  "workspaces",
  "accounts",
];
/** The layers of the dashboard, from top to bottom. `main.tsx` and `routes.tsx` are above them. */
const webLayers = [
  ["shell"],
  webFeatures,
  ["live"],
  ["data"],
  ["json", "markdown", "charts"],
  ["ui"],
  ["format"],
];
const ofWeb = (folders) => `^web/src/(${folders.join("|")})/`;

const upwardInWeb = webLayers.map((folders, position) => ({
  name: `no-import-upward-from-web-${folders[0]}`,
  comment: `Imports go down only: ${folders.join(", ")} must not import a higher layer of web/src.`,
  severity: "error",
  from: { path: ofWeb(folders) },
  to: { path: ["^web/src/[^/]+$", ...webLayers.slice(0, position).map(ofWeb)] },
}));

const sidewaysInWeb = webLayers
  .filter((folders) => folders.length > 1 && folders !== webFeatures)
  .flatMap((folders) =>
    folders.map((folder) => ({
      name: `no-import-sideways-from-web-${folder}`,
      comment: "Folders in one layer do not import each other, except features.",
      severity: "error",
      from: { path: ofWeb([folder]) },
      to: { path: ofWeb(folders.filter((other) => other !== folder)) },
    })),
  );

const throughFeatureIndex = webFeatures.map((folder) => ({
  name: `only-index-of-web-${folder}`,
  comment: `Other folders import ${folder}/ through its index.ts. Only the table of routes imports screens.`,
  severity: "error",
  from: { path: "^web/src/.*/", pathNot: [ofWeb([folder]), test] },
  to: { path: ofWeb([folder]), pathNot: `${ofWeb([folder])}index\\.ts$` },
}));

const outsidePackage = ["npm-dev", "npm-no-pkg", "npm-unknown"];

/** Matches files and folders directly in `server/src` with one of these names. */
const inside = (folders) => `^server/src/(${folders.join("|")})(/|\\.ts$)`;

const upward = layers.map((layer, position) => ({
  name: `no-import-upward-from-${layer.name.replaceAll(" ", "-")}`,
  comment: `Imports go down only: ${layer.name} must not import a higher layer. Tests can.`,
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
      comment:
        "Folders in one layer do not import each other. Let a caller in a higher layer use both.",
      severity: "error",
      from: { path: inside([folder]) },
      to: { path: inside(layer.folders.filter((other) => other !== folder)) },
    })),
  );

const throughIndex = closedFolders.map((folder) => ({
  name: `only-index-of-${folder}`,
  comment: `Import ${folder}/ through its index.ts. Export the name there if other folders need it.`,
  severity: "error",
  from: { pathNot: [`^server/src/${folder}/`, test, "^bench/"] },
  to: { path: `^server/src/${folder}/`, pathNot: `^server/src/${folder}/index\\.ts$` },
}));

/** Folders inside the folders of the server, at any depth. */
const subFolders = readdirSync("server/src", { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => join(entry.parentPath, entry.name).split(sep).join("/"))
  .filter((path) => path.split("/").length > 3);

const throughSubIndex = subFolders.map((folder) => ({
  name: `only-index-of-${folder.slice("server/src/".length).replaceAll("/", "-")}`,
  comment: `Import ${folder}/ through its index.ts. Export the name there if other folders need it.`,
  severity: "error",
  from: { pathNot: [`^${folder}/`, test, "^bench/"] },
  to: { path: `^${folder}/`, pathNot: "/index\\.ts$" },
}));

export default {
  forbidden: [
    {
      name: "no-circles",
      comment: "Files that import each other can only be understood together. Type imports count.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "imports-exist",
      comment: "The imported file does not exist, and no other rule checks such an import.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },

    {
      name: "every-folder-has-a-layer",
      comment: "Add the new folder of server/src to `layers` in .dependency-cruiser.mjs.",
      severity: "error",
      from: { path: `^server/src/(?!(${known.join("|")})/)[^/]+/` },
      to: {},
    },
    {
      name: "every-imported-folder-has-a-layer",
      comment: "Add the new folder of server/src to `layers` in .dependency-cruiser.mjs.",
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
      comment:
        "Settings are read once and passed as arguments. Layers below the entry points take values, not the configuration.",
      severity: "error",
      from: { path: "^server/src/", pathNot: [top, entryPoints, "^server/src/config\\.", test] },
      to: { path: "^server/src/config\\.ts$" },
    },
    {
      name: "config-knows-nothing-above-base",
      comment: "config.ts is read before anything else is built.",
      severity: "error",
      from: { path: "^server/src/config\\.ts$" },
      to: { path: "^server/src/", pathNot: "^server/src/base/" },
    },
    {
      name: "engine-knows-no-database-no-http-no-workspace",
      comment:
        "The engine gets its model and tools as arguments, so that it can run without a server.",
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
        "Modules do not depend on HTTP, so that every entry point can call their operations.",
      severity: "error",
      from: { path: "^server/src/", pathNot: ["^server/src/http/", top, test] },
      to: { path: "(^|/)node_modules/(hono|@hono)/" },
    },
    {
      name: "pg-only-in-database",
      comment:
        "Connections are opened in base/database only, where their limits and their role are set.",
      severity: "error",
      from: {
        pathNot: ["^server/src/base/database/", "^server/test/", "^bench/", "node_modules/"],
      },
      to: { path: "(^|/)node_modules/(pg|pg-[^/]+|@types/pg)/" },
    },
    {
      name: "opentelemetry-only-in-tracing",
      comment: "One file loads it, and only if traces are on.",
      severity: "error",
      from: { path: "^server/src/", pathNot: "^server/src/base/tracing/otlp-tracing\\.ts$" },
      to: { path: "(^|/)node_modules/@opentelemetry/" },
    },
    {
      name: "sql-only-in-stores",
      comment:
        "SQL belongs in base/database or in a module's store.ts, <part>-store.ts or <name>-statement.ts.",
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
      name: "contract-stands-alone",
      comment:
        "The contract runs anywhere: it imports nothing of the server, the dashboard or the tests.",
      severity: "error",
      from: { path: "^contract/" },
      to: { path: "^(server|web|client|e2e|bench|script)/" },
    },
    {
      name: "contract-runs-anywhere",
      comment: "The contract also runs in browsers, which have no modules of Node.",
      severity: "error",
      from: { path: "^contract/", pathNot: test },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "client-stands-alone",
      comment:
        "The client is published as its own package and is generated from docs/openapi.json.",
      severity: "error",
      from: { path: "^client/" },
      to: { path: "^(contract|server|web|e2e|bench|script)/" },
    },
    {
      name: "client-runs-anywhere",
      comment:
        "The client also runs in browsers and other fetch runtimes, which have no modules of Node.",
      severity: "error",
      from: { path: "^client/src/", pathNot: test },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "every-folder-of-web-has-a-layer",
      comment: "Add the new folder of web/src to `webLayers` in .dependency-cruiser.mjs.",
      severity: "error",
      from: { path: `^web/src/(?!(${webLayers.flat().join("|")})/)[^/]+/` },
      to: {},
    },
    ...upwardInWeb,
    ...sidewaysInWeb,
    ...throughFeatureIndex,
    {
      name: "cli-knows-client-and-listed-entries",
      comment:
        "The command line calls Beckon through the client. Only `start`, `doctor`, `backup` and `restore` need the server, and `agents apply` the contract, whose defaults it compares with.",
      severity: "error",
      from: { path: "^cli/", pathNot: test },
      to: {
        path: "^(contract|server|web|e2e|bench|script)/",
        pathNot: "^(server/src/(supervise|diagnose/index|backup/index)|contract/src/index)\\.ts$",
      },
    },
    {
      name: "cli-loads-contract-for-apply-only",
      comment:
        "The contract loads Zod, which takes longer than most commands. `agents apply` imports cli/src/apply when it runs.",
      severity: "error",
      from: { path: "^cli/src/(?!apply/)", pathNot: test },
      to: {
        path: "^(contract/|cli/src/apply/)",
        dynamic: false,
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "nobody-imports-the-cli",
      comment: "The command line is the outermost layer.",
      severity: "error",
      from: { path: "^(contract|server|web|client)/src/" },
      to: { path: "^cli/" },
    },
    {
      name: "web-runs-in-browsers",
      comment: "Browsers have no modules of Node.",
      severity: "error",
      from: { path: "^web/src/", pathNot: test },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "web-knows-contract-and-client-only",
      comment: "The dashboard uses the public API like any other client.",
      severity: "error",
      from: { path: "^web/" },
      to: { path: "^(server|e2e|bench|script)/" },
    },
    {
      name: "journeys-stay-outside",
      comment: "e2e/ starts the server and uses it over HTTP; it does not import its folders.",
      severity: "error",
      from: { path: "^e2e/" },
      to: { path: "^server/src/", pathNot: "^server/src/index\\.ts$" },
    },

    {
      name: "no-tests-in-production",
      comment: "Production code does not import tests, their support or scripts.",
      severity: "error",
      from: { path: "^(contract|server|web|client|cli)/src/", pathNot: "\\.test\\.ts$" },
      to: { path: ["\\.test\\.ts$", "^(server/test|client/test|e2e|bench|script)/"] },
    },
    {
      name: "no-undeclared-packages",
      comment: "Production code imports packages in `dependencies` of its own package.json only.",
      severity: "error",
      from: { path: "^(contract|server|web|client|cli)/src/", pathNot: "\\.test\\.ts$" },
      to: { dependencyTypes: outsidePackage },
    },
  ],
  options: {
    // TypeScript 7 has no parser API, and without a parser dependency-cruiser reads no TypeScript.
    parser: "swc",
    tsPreCompilationDeps: true,
    // Packages are listed but not read. Only build results, which git ignores, are excluded. No
    // rule checks excluded files, so a source file must not be excluded.
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(client/dist|web/(dist|tmp))/" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "types", "default"],
      extensions: [".ts", ".tsx", ".mts", ".js", ".mjs", ".cjs", ".json", ".d.ts"],
    },
    skipAnalysisNotInRules: true,
  },
};
