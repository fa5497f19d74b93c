import { readFileSync } from "node:fs";
import { findings, type Graph, lengths, readRepository } from "./structure.ts";
import { fullFolders, missingFromMap, undocumented } from "./structure-map.ts";

/**
 * Usage: node script/check-structure.ts <graph.json>, from the root of the repository, where graph.json is what dependency-cruiser
 * wrote with `--output-type json`. Prints what is wrong, and fails if anything is.
 */
const [graphFile] = process.argv.slice(2);
if (graphFile === undefined) throw new Error("usage: node script/check-structure.ts <graph.json>");

const graph: Graph = JSON.parse(readFileSync(graphFile, "utf8"));
const files = readRepository(process.cwd());
const { count, median, p90, max } = lengths(files);
const found = [
  ...findings(files, graph),
  ...undocumented(files),
  ...fullFolders(files),
  ...missingFromMap(files),
];

console.log(
  `structure: ${count} source files; lines: median ${median}, 90th percentile ${p90}, longest ${max}`,
);
for (const line of found) console.error(`  ✗ ${line}`);
if (found.length > 0) {
  console.error(`structure: ${found.length} finding${found.length === 1 ? "" : "s"}`);
  process.exitCode = 1;
}
