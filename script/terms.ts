import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readRepository } from "./structure.ts";

/**
 * Usage: node script/terms.ts [root of a checkout]. Counts words for which CONTRIBUTING.md requires
 * other words, per 1,000 lines of comments in production code, tests and scripts. It counts words,
 * not meanings: "look" and "place" also have plain uses, so the figure never reaches 0.
 */
const terms: Readonly<Record<string, RegExp>> = {
  "tell, told": /\b(tells?|told|telling)\b/g,
  "hear, hearer": /\b(hears?|heard|hearers?)\b/g,
  "stand, stands": /\b(stands?|stood)\b/g,
  "go on": /\b(go(es)?|going|went|gone) on\b/g,
  "judge, verdict, gate": /\b(judge[sd]?|verdicts?|gates?)\b/g,
  "refuse, refusal": /\brefus(e|es|ed|al|als|ing)\b/g,
  "seal, sealed": /\b(re)?seal(s|ed|ing)?\b/g,
  "who, whoever, nobody": /\b(whoever|whosever|who|whom|nobody|somebody)\b/gi,
  "patience, room, born": /\b(patience|room|born)\b/g,
  "door, floor, noun, verb": /\b(doors?|floors?|nouns?|verbs?)\b/g,
  "hand back, hand out": /\bhand(s|ed)? (back|out)\b/g,
  "place, look": /\b(places?|looks?|looked)\b/g,
  "cut, come to, brought": /\b(cut|cuts|comes? to|came to|brought)\b/g,
  "most, longest, least (limits)": /\bat (most|least)\b|\blongest\b/g,
};

const root = process.argv[2] ?? process.cwd();
if (!existsSync(join(root, "package.json")))
  throw new Error(`${root} is not a checkout of Beckon.`);

const comments = readRepository(root)
  .filter(({ path }) => /\.(ts|mjs)$/.test(path) && !/generated|^script\/terms\.ts$/.test(path))
  .map(({ path }) => readFileSync(join(root, path), "utf8"))
  .flatMap((text) => text.split("\n").filter((line) => /^\s*(\/\*\*?|\*|\/\/)/.test(line)));

const perThousand = (count: number) => ((count * 1_000) / comments.length).toFixed(1);
let total = 0;
for (const [name, term] of Object.entries(terms)) {
  const count = comments.reduce((sum, line) => sum + (line.match(term)?.length ?? 0), 0);
  total += count;
  console.log(`${perThousand(count).padStart(7)}  ${name}`);
}
console.log(`${perThousand(total).padStart(7)}  in all, per 1,000 of ${comments.length} lines`);
