import { dirname, join } from "node:path";
import { isProduction, type SourceFile } from "./structure.ts";

/** Rules about what a newcomer looks at first: what folders export, and the page that leads through them. */

/** Names that an `index.ts` exports and whose declaration has no doc comment. */
export function undocumented(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file.text]));
  return files
    .filter((file) => isProduction(file.path) && file.path.endsWith("/index.ts"))
    .flatMap((index) =>
      [...index.text.matchAll(/export (?:type )?\{([^}]*)\} from "(\.[^"]+)"/g)].flatMap(
        ([, names = "", from = ""]) => {
          const path = join(dirname(index.path), from);
          const text = byPath.get(path);
          // Another index has its own findings.
          if (text === undefined || path.endsWith("/index.ts")) return [];
          return exported(names)
            .filter((name) => !hasDoc(text, name))
            .map(
              (name) => `doc: ${path}: ${name} is exported by ${index.path} and has no doc comment`,
            );
        },
      ),
    );
}

function exported(names: string): string[] {
  return names
    .split(",")
    .map((name) =>
      name
        .trim()
        .replace(/^type /, "")
        .replace(/ as .*$/, ""),
    )
    .filter((name) => name !== "");
}

/** Whether the declaration has a doc comment. A type inferred from the constant above it shares that one's. */
function hasDoc(text: string, name: string): boolean {
  const declaration = new RegExp(
    `^export (?:declare )?(?:async )?(?:abstract )?(?:function\\*?|const|class|interface|type|enum) ${name}\\b`,
    "m",
  );
  const at = text.search(declaration);
  if (at < 0) return true;
  return (
    /\*\/\s*$/.test(text.slice(0, at)) ||
    new RegExp(`^export type ${name} = z\\.infer<`, "m").test(text)
  );
}

/** Source files that a folder may hold: more are not taken in at one look. */
export const maxFilesPerFolder = 20;

/** Folders that may hold more, and why. */
const flatFolders: ReadonlyMap<string, string> = new Map([
  ["contract/src", "one file per resource, with nothing between them"],
  ["server/test", "tools of the tests, each used by itself"],
]);

/** Folders with more source files than a reader takes in. Tests are not counted. */
export function fullFolders(files: readonly SourceFile[]): string[] {
  const sources = files
    .map(({ path }) => path)
    .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path));
  return [...Map.groupBy(sources, dirname)]
    .filter(([folder, { length }]) => length > maxFilesPerFolder && !flatFolders.has(folder))
    .map(
      ([folder, { length }]) =>
        `folder: ${folder} has ${length} source files; above ${maxFilesPerFolder} give it sub-folders by purpose`,
    );
}

/** Files and folders that ARCHITECTURE.md names in code spans and that are not there. */
export function missingFromMap(files: readonly SourceFile[]): string[] {
  const map = files.find((file) => file.path === "ARCHITECTURE.md");
  if (map === undefined) return ["map: ARCHITECTURE.md is missing"];
  const paths = files.map((file) => file.path);
  const exists = (name: string) =>
    roots.some((root) =>
      paths.some(
        (path) => path === root + name || path.startsWith(`${root}${name.replace(/\/$/, "")}/`),
      ),
    );
  const named = [...map.text.matchAll(/`([\w./-]+)`/g)]
    .map(([, name = ""]) => name)
    .filter((name) => /\/$|\.(ts|sql|md|json|mjs|css)$|^script\//.test(name));
  return [...new Set(named)]
    .filter((name) => !exists(name))
    .map((name) => `map: ARCHITECTURE.md names ${name}, which does not exist`);
}

/** Names on the page are relative to one of these. */
const roots = ["", "server/src/", "contract/src/"];
