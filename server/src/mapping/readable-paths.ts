import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Returns the folders that an evaluation child can read: the folder of this file, and those of the
 * packages that the child imports. For a package that is a symbolic link, the list contains both
 * the path of the link and the path of its target.
 */
export function readablePaths(): string[] {
  const cel = foldersOf("@bufbuild/cel", import.meta.dirname);
  const celFolder = cel.at(-1) ?? import.meta.dirname;
  return [
    import.meta.dirname,
    ...foldersOf("liquidjs", import.meta.dirname),
    ...cel,
    ...["@bufbuild/cel-spec", "@bufbuild/protobuf", "@bufbuild/re2"].flatMap((name) =>
      foldersOf(name, celFolder),
    ),
  ];
}

/** Returns the folder of a package as Node.js finds it from `folder`, and its real path. */
function foldersOf(name: string, folder: string): string[] {
  const candidate = join(folder, "node_modules", name);
  if (existsSync(join(candidate, "package.json"))) {
    const real = realpathSync(candidate);
    return real === candidate ? [real] : [candidate, real];
  }
  const parent = dirname(folder);
  if (parent === folder) throw new Error(`The package ${name} is not installed.`);
  return foldersOf(name, parent);
}
