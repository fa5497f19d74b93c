import { stripTypeScriptTypes } from "node:module";

/**
 * Returns a TypeScript file as JavaScript, with a source map. Types are replaced by white space,
 * and the extension of imported files by `.js`. Lines and columns therefore stay the same, so stack
 * traces are correct even without the map.
 * @param options `name`: name of the file, for the map; `modules`: relative paths that replace the
 *   names of imported packages
 */
export function toJavaScript(
  source: string,
  { name, modules }: { name: string; modules: Readonly<Record<string, string>> },
): { readonly code: string; readonly map: string } {
  const code = stripTypeScriptTypes(source, { mode: "strip" })
    // Changes relative paths of imports, and of URLs from which workers and processes are started.
    .replaceAll(/(["'])(\.\.?\/[^"'\n]*)\.ts\1/g, "$1$2.js$1")
    .replaceAll(/(\bfrom |\bimport\()"([^"\n]+)"/g, (statement, before: string, module: string) => {
      const path = modules[module];
      return path === undefined ? statement : `${before}"${path.replace(/\.ts$/, ".js")}"`;
    });
  const lines = source.split("\n").length;
  const map = {
    version: 3,
    sources: [name],
    sourcesContent: [source],
    names: [],
    // Maps each line to the same line of the source, as base64 VLQ relative to the line before.
    mappings: ["AAAA", ...Array<string>(lines - 1).fill("AACA")].join(";"),
  };
  const mapName = name.replace(/\.ts$/, ".js.map");
  return {
    code: `${code.trimEnd()}\n//# sourceMappingURL=${mapName}\n`,
    map: JSON.stringify(map),
  };
}
