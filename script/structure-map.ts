import { dirname, join } from "node:path";
import { isProduction, type SourceFile } from "./structure.ts";

/**
 * Checks that help newcomers to navigate: exported names have doc comments, folders are not too
 * full, and the paths in ARCHITECTURE.md exist.
 */

/** Finds names that an `index.ts` exports and whose declaration has no doc comment. */
export function undocumented(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file.text]));
  return files
    .filter((file) => isProduction(file.path) && file.path.endsWith("/index.ts"))
    .flatMap((index) =>
      [...index.text.matchAll(/export (?:type )?\{([^}]*)\} from "(\.[^"]+)"/g)].flatMap(
        ([, names = "", from = ""]) => {
          const path = join(dirname(index.path), from);
          const text = byPath.get(path);
          // Names from another index.ts are checked when that file is checked.
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

/** Returns whether the name's declaration has a doc comment. `z.infer` types do not need one. */
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

/** Maximum number of source files in a folder, without tests and sub-folders. */
export const maxFilesPerFolder = 20;

/** Folders that are allowed to contain more source files, with the reason for each. */
const flatFolders: ReadonlyMap<string, string> = new Map([
  ["contract/src", "one file per resource, without further structure"],
  ["server/test", "independent test tools"],
]);

/** Finds folders with more than `maxFilesPerFolder` source files. */
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

/** Finds files and folders that ARCHITECTURE.md names in code spans and that do not exist. */
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

/** Folders to which the paths in ARCHITECTURE.md are relative. */
const roots = ["", "server/src/", "contract/src/"];
