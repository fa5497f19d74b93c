import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";

/** The fields of an entry in Vite's manifest that this file reads. */
interface Chunk {
  readonly file: string;
  readonly name?: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}
type Manifest = Readonly<Record<string, Chunk>>;

/** The bytes of one part of the dashboard, compressed with gzip. */
export interface DashboardSize {
  readonly name: string;
  readonly bytes: number;
  readonly maxBytes: number;
}

const dist = resolve(import.meta.dirname, "../../web/dist");
const overview = "src/overview/overview-screen.tsx";
const runs = "src/runs/list/runs-screen.tsx";
/**
 * The smallest form. It adds little to the packages that all forms share, so its size stands for
 * the size of these packages.
 */
const smallestForm = "src/agents/frame/pause-dialog.tsx";
const markdown = "src/markdown/rendered.tsx";

/**
 * Measures the scripts and styles in web/dist: the size of the first load of the overview, what the
 * list of runs, tables, forms and Markdown add to it, and what each screen adds to the first load,
 * the tables and the forms together. The first load contains the script of the SharedWorker, which
 * is an entry too.
 */
export function measureSizes(): DashboardSize[] {
  const manifest: Manifest = JSON.parse(readFileSync(resolve(dist, ".vite/manifest.json"), "utf8"));
  const entries = Object.keys(manifest).filter((name) => manifest[name]?.isEntry === true);
  const first = filesOf(manifest, [...entries, overview]).add("theme.js");
  const forms = filesOf(manifest, [smallestForm], first);
  const tables = filesOf(
    manifest,
    Object.keys(manifest).filter((name) => manifest[name]?.name === "tables"),
    first,
  );
  const loaded = new Set([...first, ...tables, ...forms]);
  const screens = Object.keys(manifest).filter((name) => /^src\/.*-screen\.tsx$/.test(name));
  return [
    { name: "first load of the overview", bytes: sizeOf(first), maxBytes: 190_000 },
    {
      name: "first load, then the list of runs",
      bytes: sizeOf(first) + sizeOf(filesOf(manifest, [runs], first)),
      maxBytes: 202_500,
    },
    { name: "tables", bytes: sizeOf(tables), maxBytes: 8_000 },
    { name: "forms", bytes: sizeOf(forms), maxBytes: 55_000 },
    {
      name: "Markdown",
      bytes: sizeOf(filesOf(manifest, [markdown], first)),
      maxBytes: 52_000,
    },
    ...screens.map((name) => ({
      name: name.replace(/^src\//, ""),
      bytes: sizeOf(filesOf(manifest, [name], loaded)),
      maxBytes: 30_000,
    })),
  ];
}

/** Returns the files of modules and of all their static imports, without those in `loaded`. */
function filesOf(
  manifest: Manifest,
  names: readonly string[],
  loaded: ReadonlySet<string> = new Set(),
): Set<string> {
  const files = new Set<string>();
  const seen = new Set(names);
  for (const name of seen) {
    const chunk = manifest[name];
    if (chunk === undefined) throw new Error(`${name} is not in the manifest of web/dist`);
    for (const file of [chunk.file, ...(chunk.css ?? [])]) if (!loaded.has(file)) files.add(file);
    for (const imported of chunk.imports ?? []) seen.add(imported);
  }
  return files;
}

const sizeOf = (files: ReadonlySet<string>) =>
  [...files].reduce(
    (sum, file) => sum + gzipSync(readFileSync(resolve(dist, file)), { level: 9 }).length,
    0,
  );
