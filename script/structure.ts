import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";

/**
 * This file has the checks that linters lack: completeness of the import graph, length and names of
 * files, location of SQL, disabled tests, notes to do something later, and machine-specific paths.
 * Each check returns a line for each finding.
 */

/** A text file of the repository. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The fields of dependency-cruiser's JSON report that the checks use. */
export interface Graph {
  readonly modules: readonly {
    readonly source: string;
    readonly dependencies: readonly { readonly module: string }[];
  }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string; readonly severity: string };
      readonly cycle?: readonly { readonly name: string }[];
    }[];
    readonly ruleSetUsed?: {
      readonly forbidden?: readonly { readonly name: string; readonly comment?: string }[];
    };
  };
}

/** Maximum lines of a file. A longer file must give the reason in its first comment. */
export const maxLines = 500;
/** `maxLines` for files of the dashboard. */
const maxWebLines = 400;
/**
 * Upper bounds, exclusive, of the median and the 90th percentile of the production files' lines.
 */
export const lengthTargets = { median: 80, p90: 220 };

/** Reads all text files of the repository that are tracked or untracked, but not ignored by git. */
export function readRepository(root: string): SourceFile[] {
  const paths = (listWithGit(root) ?? listFolder(root))
    .filter((path) => existsSync(join(root, path)))
    .sort();
  return paths
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
    .filter((file) => !file.text.includes("\0"));
}

function listWithGit(root: string): string[] | undefined {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { status, stdout } = spawnSync("git", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return status === 0 ? [...new Set(stdout.split("\0"))].filter((path) => path !== "") : undefined;
}

/** Lists the files without git, for an unpacked archive or a machine without git. */
function listFolder(root: string): string[] {
  const skipped = /(^|\/)(node_modules|\.git|dist)(\/|$)|^data(\/|$)/;
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !skipped.test(path));
}

const isTypeScript = (path: string) => /\.tsx?$/.test(path);
const isTest = (path: string) => /\.test\.tsx?$/.test(path);
export const isProduction = (path: string) =>
  /^(contract|server|web|client|cli)\/src\//.test(path) && isTypeScript(path) && !isTest(path);

/** Returns the violations that dependency-cruiser found, with the comments of the rules. */
export function graphViolations(graph: Graph): string[] {
  const comments = new Map(
    graph.summary.ruleSetUsed?.forbidden?.map((rule) => [rule.name, rule.comment ?? ""]),
  );
  return graph.summary.violations.map(({ from, to, rule, cycle }) => {
    const path =
      cycle === undefined || cycle.length === 0
        ? `${from} → ${to}`
        : [from, ...cycle.map((file) => file.name)].join(" → ");
    return `${rule.name}: ${path}\n      ${comments.get(rule.name) ?? ""}`;
  });
}

/**
 * Finds files and imports that are missing from dependency-cruiser's graph. The import rules do not
 * check what the graph lacks. There are three causes: without a working parser the graph is empty,
 * excluded files are missing without a message, and the parser does not report types such as
 * `import("./x.ts").T`.
 */
export function missingFromGraph(files: readonly SourceFile[], graph: Graph): string[] {
  const seen = new Map(
    graph.modules.map((module) => [
      module.source,
      new Set(module.dependencies.map(({ module: name }) => bare(name))),
    ]),
  );
  const sources = files.filter(
    (file) =>
      /^(contract|server|web|client|cli|e2e|bench)\//.test(file.path) && isTypeScript(file.path),
  );
  if (sources.length === 0) return ["graph: there is no source file to check"];
  return sources.flatMap((file) => {
    const imports = seen.get(file.path);
    if (imports === undefined)
      return [
        `graph: ${file.path} was not seen by dependency-cruiser (it saw ${seen.size} modules)`,
      ];
    return importsOf(file.text)
      .filter((name) => !imports.has(bare(name)))
      .map(
        (name) =>
          `graph: ${file.path} imports "${name}", which dependency-cruiser did not see; use an import statement`,
      );
  });
}

const bare = (specifier: string) => specifier.replace(/^node:/, "");

/** Returns the text of a file without the comments that begin a line. */
const withoutComments = (text: string) =>
  text.replace(/^\s*\/\*[\s\S]*?\*\//gm, "").replace(/^\s*\/\/.*$/gm, "");

/** Returns the specifiers that a file imports, found by regular expressions outside comments. */
function importsOf(text: string): string[] {
  const code = withoutComments(text);
  const statements = [
    ...code.matchAll(/^(?:import|export)\b[^;"'`]*\bfrom "([^"\n]+)"/gm),
    ...code.matchAll(/^import "([^"\n]+)"/gm),
  ];
  const expressions = [...code.matchAll(/\bimport\(\s*"([^"\n]+)"\s*\)/g)];
  return [...new Set([...statements, ...expressions].map((match) => match[1] ?? ""))];
}

/** Finds files with too many lines whose first comment does not say why ("long because …"). */
export function tooLong(files: readonly SourceFile[]): string[] {
  return files
    .filter(
      (file) =>
        isTypeScript(file.path) &&
        lines(file) > maxLinesOf(file) &&
        !/long because/i.test(firstComment(file.text)),
    )
    .map(
      (file) =>
        `length: ${file.path} has ${lines(file)} lines; above ${maxLinesOf(file)} its first comment says "long because …"`,
    );
}

const maxLinesOf = ({ path }: SourceFile) => (path.startsWith("web/src/") ? maxWebLines : maxLines);

function firstComment(text: string): string {
  return /^\s*(?:import\b[^;]*;\s*)*(\/\*[\s\S]*?\*\/|(?:\/\/.*\n?)+)/.exec(text)?.[1] ?? "";
}

const lines = (file: SourceFile) =>
  file.text.split("\n").length - (file.text.endsWith("\n") ? 1 : 0);

/** Returns number, median, 90th percentile and maximum of the production files' lines. */
export function lengths(files: readonly SourceFile[]): {
  count: number;
  median: number;
  p90: number;
  max: number;
} {
  const sorted = files
    .filter((file) => isProduction(file.path))
    .map(lines)
    .sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
  return { count: sorted.length, median: at(0.5), p90: at(0.9), max: sorted.at(-1) ?? 0 };
}

export function missedLengthTargets(files: readonly SourceFile[]): string[] {
  const { median, p90 } = lengths(files);
  return [
    ...(median >= lengthTargets.median
      ? [`length: the median file has ${median} lines; aim for less than ${lengthTargets.median}`]
      : []),
    ...(p90 >= lengthTargets.p90
      ? [`length: the 90th percentile is ${p90} lines; aim for less than ${lengthTargets.p90}`]
      : []),
  ];
}

/** Finds files and folders with names such as `utils`, because they collect unrelated code. */
export function vagueNames(files: readonly SourceFile[]): string[] {
  const isSpecific = (part: string) =>
    !/^(utils?|helpers?|libs?|types?|common|shared|misc)$|(^|-)(utils?|helpers?)$/.test(part);
  return files
    .filter((file) => isProduction(file.path))
    .filter(
      (file) =>
        !file.path.split("/").every((part) => isSpecific(basename(part).replace(/\..*$/, ""))),
    )
    .map((file) => `name: ${file.path}: name a file for what it does, not for its kind`);
}

/**
 * Returns the files of the server that must not execute SQL: those outside of `base` that are not
 * `store.ts`, `<part>-store.ts` or `<name>-statement.ts`.
 */
const filesWithoutStatements = (files: readonly SourceFile[]): readonly SourceFile[] =>
  files.filter(
    ({ path }) =>
      path.startsWith("server/src/") &&
      isProduction(path) &&
      !path.startsWith("server/src/base/") &&
      !/[/-](store|statement)\.ts$/.test(path),
  );

/**
 * Finds files that execute SQL and must not. It recognizes them by calls of the query builder and
 * the pool, and by the `sql` tag. dependency-cruiser checks which files import kysely and pg.
 */
export function misplacedSql(files: readonly SourceFile[]): string[] {
  const statement =
    /(?<!\.)\bsql(<[^`]*>)?`|\.(selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\(|(?<!\breq)\.query(<[^(]*>)?\(/;
  return filesWithoutStatements(files)
    .filter((file) => statement.test(file.text))
    .map(
      (file) =>
        `sql: ${file.path} executes SQL; it belongs in store.ts, <part>-store.ts or <name>-statement.ts`,
    );
}

/**
 * Finds files that have parts of SQL statements as text, but no doc comment that begins with
 * "Returns SQL". Other files put these parts into the statements that they execute.
 */
export function unannouncedSql(files: readonly SourceFile[]): string[] {
  const part = /\b(insert into|delete from|update \w+( \w+)? set|select\b[^"`;]*?\bfrom)\b/;
  return filesWithoutStatements(files)
    .filter(({ text }) => part.test(withoutComments(text)) && !/\*\s+Returns SQL\b/.test(text))
    .map(
      ({ path }) =>
        `sql: ${path} has a part of a statement; move it to a function whose doc comment begins with "Returns SQL"`,
    );
}

/** Finds disabled tests, and notes to do something later, which belong in the issue tracker. */
export function leftBehind(files: readonly SourceFile[]): string[] {
  const stopped = /\.(?:skip|only|todo)\(/;
  const note = /\b(?:TO[D]O|FIX[M]E|XX[X])\b/;
  return files.flatMap((file) => [
    ...(isTest(file.path) && stopped.test(file.text)
      ? [`left behind: ${file.path} has a test that is disabled or runs alone`]
      : []),
    ...(/\.(tsx?|mjs|sql|sh|json|jsonc)$|^script\/|^\.ci\//.test(file.path) && note.test(file.text)
      ? [`left behind: ${file.path} has a note to do something later; do it or open an issue`]
      : []),
  ]);
}

/** Finds registry addresses and absolute paths, which are only valid on one machine. */
export function machineBound(files: readonly SourceFile[]): string[] {
  const registry =
    /\bregistry\.(?:npmjs|yarnpkg)\.|https?:\/\/(?:[\w-]+\.)*(?:registry|npm|artifactory|nexus|verdaccio)\.[\w.-]+|^\s*(?:@[\w-]+:)?registry\s*=/m;
  return files.flatMap((file) => {
    if (basename(file.path) === "package-lock.json") return machineBoundLock(file);
    const found = registry.exec(file.text);
    return found === null
      ? []
      : [`machine: ${file.path} names a package registry (${found[0].trim()})`];
  });
}

function machineBoundLock(file: SourceFile): string[] {
  const resolved = [...file.text.matchAll(/"resolved":\s*"([^"]*)"/g)].map(
    (match) => match[1] ?? "",
  );
  const absolute = [...file.text.matchAll(/"((?:file:)?(?:\/|[A-Za-z]:\\)[^"]*)"/g)].map(
    (match) => match[1] ?? "",
  );
  const addresses = [...file.text.matchAll(/"([^"]*:\/\/[^"]*)"/g)].map((match) => match[1] ?? "");
  return [
    ...resolved
      .filter((where) => /^(\w+:|\/|\.\.)/.test(where))
      .map(
        (where) =>
          `machine: ${file.path} resolves a package to ${where}; only workspaces can be resolved to paths`,
      ),
    ...absolute.map((path) => `machine: ${file.path} contains the absolute path ${path}`),
    ...addresses
      .filter((url) => /\.tgz$/.test(url) && !resolved.includes(url))
      .map((url) => `machine: ${file.path} contains ${url}`),
  ];
}

/**
 * Finds optional packages (for other platforms) that the lock file refers to but does not contain.
 * npm writes such a file if it cannot download them, and `npm ci` then rejects it on all machines.
 */
export function incompleteLock(files: readonly SourceFile[]): string[] {
  const text = files.find((file) => file.path === "package-lock.json")?.text;
  if (text === undefined) return [];
  const lock: { packages: Record<string, { optionalDependencies?: Record<string, string> }> } =
    JSON.parse(text);
  const held = new Set(
    Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, "")),
  );
  const missing = Object.values(lock.packages)
    .flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}))
    .filter((name) => !held.has(name));
  if (missing.length === 0) return [];
  return [
    `lock: package-lock.json lacks ${missing.length} optional packages, so npm ci rejects it: ${missing.slice(0, 3).join(", ")} …`,
  ];
}

const maxColumns = 100;

/** Finds comments wider than `maxColumns`. Tables, code and URLs are exempt. */
export function wideComments(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => /\.(ts|tsx|mjs)$/.test(path) && !path.includes("/generated/"))
    .flatMap(({ path, text }) =>
      text.split("\n").flatMap((line, index) => {
        const isWide = line.length > maxColumns && /^\s*(\*|\/\/|\/\*)/.test(line);
        const isExempt = /https?:\/\/|\S {3,}\S|[=;{]/.test(line);
        return isWide && !isExempt
          ? [`width: ${path}:${index + 1}: ${line.length} columns; wrap it at ${maxColumns}`]
          : [];
      }),
    );
}

/** Returns all findings, in the order in which they are best fixed. */
export function findings(files: readonly SourceFile[], graph: Graph): string[] {
  return [
    ...missingFromGraph(files, graph),
    ...graphViolations(graph),
    ...misplacedSql(files),
    ...unannouncedSql(files),
    ...vagueNames(files),
    ...tooLong(files),
    ...wideComments(files),
    ...missedLengthTargets(files),
    ...leftBehind(files),
    ...machineBound(files),
    ...incompleteLock(files),
  ];
}
