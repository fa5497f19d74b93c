import { readFileSync } from "node:fs";
import { findings, type Graph, lengths, readRepository } from "./structure.ts";
import { fullFolders, missingFromMap, undocumented } from "./structure-map.ts";

/**
 * Usage: node script/check-structure.ts <graph.json>, in the root of the repository. graph.json is
 * the output of dependency-cruiser with `--output-type json`. Prints the findings, and exits with 1
 * if there are any.
 */
const [graphFile] = process.argv.slice(2);
if (graphFile === undefined) throw new Error("usage: node script/check-structure.ts <graph.json>");

const graph: Graph = JSON.parse(readFileSync(graphFile, "utf8"));
const files = readRepository(process.cwd());
const { count, median, p90, max } = lengths(files);
const results = [
  ...findings(files, graph),
  ...undocumented(files),
  ...fullFolders(files),
  ...missingFromMap(files),
];

console.log(
  `structure: ${count} source files; lines: median ${median}, 90th percentile ${p90}, longest ${max}`,
);
for (const line of results) console.error(`  ✗ ${line}`);
if (results.length > 0) {
  console.error(`structure: ${results.length} finding${results.length === 1 ? "" : "s"}`);
  process.exitCode = 1;
}
