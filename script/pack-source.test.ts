import { expect, test } from "vitest";
import { toJavaScript } from "./pack-source.ts";

const source = `import type { A } from "./a.ts";
import { b } from "./b.ts";
import { c } from "@beckon/contract";
import manifest from "../package.json" with { type: "json" };
const worker = new URL("./worker.ts", import.meta.url);
const later = () => import("./later.ts");
export function d(one: string, { two }: { two: number }): A {
  throw new Error(\`see d.ts \${one as string} \${two} \${b} \${c} \${manifest} \${worker} \${later}\`);
}
`;
const { code, map } = toJavaScript(source, {
  name: "d.ts",
  modules: { "@beckon/contract": "../../contract/src/index.ts" },
});

test("the packed file imports JavaScript, and other text is unchanged", () => {
  const modules = [...code.matchAll(/"([^"]*)"/g)].map(([, name]) => name);
  expect(modules).toEqual([
    "./b.js",
    "../../contract/src/index.js",
    "../package.json",
    "json",
    "./worker.js",
    "./later.js",
  ]);
  expect(code).toContain("see d.ts");
  expect(code).not.toContain("string");
});

test("a position in the packed file is that of the source", () => {
  const at = (text: string) =>
    text
      .split("\n")
      .flatMap((line, index) => (line.includes("throw") ? [[index, line.indexOf("new")]] : []));
  expect(at(code)).toEqual(at(source));
  expect(code.trimEnd()).toMatch(/\n\/\/# sourceMappingURL=d\.js\.map$/);
  expect(JSON.parse(map)).toMatchObject({ sources: ["d.ts"], sourcesContent: [source] });
});
