import { readdirSync } from "node:fs";
import { join, sep } from "node:path";

/**
 * The floors of the server, held by machine. Imports go down only:
 *
 *   main, supervise, index → http, worker → bundles → triggers → runs → agents → workspaces → members → the other nouns, engine → credentials → base → contract
 *
 * `import type` counts like any other import. Each rule's comment is printed where the rule is broken.
 * Biome holds the rules inside one file; `script/check-structure.ts` holds the rest and makes sure that every source file
 * was seen here at all (a parser that reads nothing would pass every rule).
 */

/** From the top down. A floor may import what stands below it, and never what stands beside it. */
const floors = [
  { name: "the doors", members: ["http", "worker"] },
  { name: "the supervisor", members: ["supervisor"] },
  { name: "bundles", members: ["bundles"] },
  { name: "triggers", members: ["triggers"] },
  { name: "runs", members: ["runs"] },
  { name: "agents", members: ["agents"] },
  { name: "workspaces", members: ["workspaces"] },
  { name: "members", members: ["members"] },
  {
    name: "the other nouns and the engine",
    members: [
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
  { name: "credentials", members: ["credentials"] },
  { name: "base", members: ["base"] },
];

/** Entered through `index.ts` only. `base` is not among them: its plain files are imported as they are. */
const closedFolders = floors.slice(1, -1).flatMap((floor) => floor.members);

/** Folders of the server that have a floor. */
const known = floors.flatMap((floor) => floor.members);

/** Files that open the whole: they may import everything below. Any other file directly in `server/src` counts as one of them. */
const top = "^server/src/(?!worker\\.ts$|config\\.ts$)[^/]+\\.ts$";
const doors = "^server/src/(http/|worker(\\.ts$|/))";
const test = "\\.test\\.ts$|^server/test/|^e2e/";
const outsidePackage = ["npm-dev", "npm-no-pkg", "npm-unknown"];

/** A file or folder directly in `server/src` by one of these names. */
const inside = (members) => `^server/src/(${members.join("|")})(/|\\.ts$)`;

const upward = floors.map((floor, position) => ({
  name: `no-import-upward-from-${floor.name.replaceAll(" ", "-")}`,
  comment: `Imports go down only: ${floor.name} may not know what stands above. A test may start the whole.`,
  severity: "error",
  from: { path: inside(floor.members), pathNot: test },
  to: {
    path: [top, ...floors.slice(0, position).map((above) => inside(above.members))],
    pathNot: "^server/src/config\\.ts$",
  },
}));

const sideways = floors
  .filter((floor) => floor.members.length > 1)
  .flatMap((floor) =>
    floor.members.map((member) => ({
      name: `no-import-sideways-from-${member}`,
      comment:
        "What stands on one floor does not import each other. Let a caller above bind the two.",
      severity: "error",
      from: { path: inside([member]) },
      to: { path: inside(floor.members.filter((other) => other !== member)) },
    })),
  );

const throughIndex = closedFolders.map((folder) => ({
  name: `only-index-of-${folder}`,
  comment: `${folder}/ is entered through its index.ts. Export the name there if others may use it.`,
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
  comment: `${folder}/ is entered through its index.ts. Export the name there if others may use it.`,
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
      comment: "The import leads nowhere: every other rule would be blind to it.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },

    {
      name: "every-folder-has-a-floor",
      comment:
        "A new folder in server/src gets its place in `floors` of .dependency-cruiser.mjs first.",
      severity: "error",
      from: { path: `^server/src/(?!(${known.join("|")})/)[^/]+/` },
      to: {},
    },
    {
      name: "every-imported-folder-has-a-floor",
      comment:
        "A new folder in server/src gets its place in `floors` of .dependency-cruiser.mjs first.",
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
        "Settings are read once and handed down as arguments; what stands below the doors takes values, not the configuration.",
      severity: "error",
      from: { path: "^server/src/", pathNot: [top, doors, "^server/src/config\\.", test] },
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
        "The engine is handed its model and its tools; it stays a loop that can run anywhere.",
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
      name: "http-framework-only-at-the-doors",
      comment: "Nouns know no HTTP, so that every door can call the same verbs.",
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
      name: "sql-only-in-stores",
      comment:
        "SQL is found in base/database and in a noun's store.ts, <part>-store.ts or <name>-statement.ts.",
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
        "The client is published by itself: it knows the API by docs/openapi.json, of which it is generated.",
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
      name: "web-knows-the-contract-only",
      comment: "The dashboard uses the public API like any other caller.",
      severity: "error",
      from: { path: "^web/" },
      to: { path: "^(server|e2e|bench|script)/" },
    },
    {
      name: "journeys-stay-outside",
      comment: "e2e/ starts the server and talks to it over HTTP; it reaches into no folder of it.",
      severity: "error",
      from: { path: "^e2e/" },
      to: { path: "^server/src/", pathNot: "^server/src/index\\.ts$" },
    },

    {
      name: "no-tests-in-production",
      comment: "Production code does not import tests, their support or scripts.",
      severity: "error",
      from: { path: "^(contract|server|web|client)/src/", pathNot: "\\.test\\.ts$" },
      to: { path: ["\\.test\\.ts$", "^(server/test|client/test|e2e|bench|script)/"] },
    },
    {
      name: "no-undeclared-packages",
      comment: "Production code uses packages that its own package.json names under dependencies.",
      severity: "error",
      from: { path: "^(contract|server|web|client)/src/", pathNot: "\\.test\\.ts$" },
      to: { dependencyTypes: outsidePackage },
    },
  ],
  options: {
    // TypeScript 7 offers no parser to other programs: without another one, nothing at all would be read.
    parser: "swc",
    tsPreCompilationDeps: true,
    // Packages are seen but not read. Nothing is excluded: an excluded file is invisible to every rule above.
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "types", "default"],
      extensions: [".ts", ".tsx", ".mts", ".js", ".mjs", ".cjs", ".json", ".d.ts"],
    },
    skipAnalysisNotInRules: true,
  },
};
