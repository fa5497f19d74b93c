import { expect, test } from "vitest";
import { fullFolders, maxFilesPerFolder, missingFromMap, undocumented } from "./structure-map.ts";

const file = (path: string, text = "") => ({ path, text });

test("an exported name without a doc comment is found", () => {
  const index = file("server/src/keys/index.ts", 'export { type Key, makeKey } from "./key.ts";\n');
  const declared = (doc: string) =>
    file(
      "server/src/keys/key.ts",
      `${doc}export function makeKey() {}\n\n/** A key. */\nexport interface Key {}\n`,
    );
  expect(undocumented([index, declared("")])).toEqual([
    "doc: server/src/keys/key.ts: makeKey is exported by server/src/keys/index.ts and has no doc comment",
  ]);
  expect(undocumented([index, declared("/** Makes one. */\n")])).toEqual([]);
});

test("a file or folder that ARCHITECTURE.md names and that does not exist is found", () => {
  const page = file(
    "ARCHITECTURE.md",
    "See `runs/start.ts`, `agents/`, `script/check` and the value `202`.",
  );
  const existing = [
    file("server/src/runs/start.ts"),
    file("server/src/agents/index.ts"),
    file("script/check"),
  ];
  expect(missingFromMap([page, ...existing])).toEqual([]);
  expect(missingFromMap([page, ...existing.slice(1)])).toEqual([
    "map: ARCHITECTURE.md names runs/start.ts, which does not exist",
  ]);
});

test("a folder with too many source files is found, without tests and listed exceptions", () => {
  const filled = (folder: string, count: number, ending = ".ts") =>
    Array.from({ length: count }, (_, index) => file(`${folder}/file-${index}${ending}`));
  const max = maxFilesPerFolder;
  expect(
    fullFolders([...filled("server/src/keys", max), ...filled("server/src/keys", 5, ".test.ts")]),
  ).toEqual([]);
  expect(fullFolders(filled("contract/src", max + 1))).toEqual([]);
  expect(fullFolders(filled("server/src/keys", max + 1))).toEqual([
    `folder: server/src/keys has ${max + 1} source files; above ${max} give it sub-folders by purpose`,
  ]);
});
