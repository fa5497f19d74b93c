import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ConfigError } from "../base/errors.ts";
import { readOperatorPrices } from "./operator-file.ts";

const folder = await mkdtemp(join(tmpdir(), "beckon-prices-"));
afterAll(() => rm(folder, { recursive: true }));
const path = join(folder, "prices.json");

async function errorOf(content: string | Uint8Array): Promise<string> {
  await writeFile(path, content);
  const error: unknown = await readOperatorPrices(path).catch((thrown) => thrown);
  if (!(error instanceof ConfigError)) throw new Error("the file was accepted");
  return error.message;
}

test("without a file there are no prices", async () => {
  expect((await readOperatorPrices(undefined)).models.size).toBe(0);
});

test("reads a file, also one that begins with a byte order mark", async () => {
  await writeFile(path, '\uFEFF{"models": {"a/b": {"input": 1, "output": 2}}}');
  expect([...(await readOperatorPrices(path)).models.keys()]).toEqual(["a/b"]);
});

test("the error of an invalid file names the setting, the path, and each mistake in a line", async () => {
  expect(await errorOf('{\n  "models": {"x": {"input": 1, "output": 1}},\n  "voice": 1\n}')).toBe(
    `BECKON_PRICES names ${path}, which is not valid. Correct it and start again.\n` +
      'line 2, column 14: "x" is not a model. It must be provider/model; a * at its end stands for any text.\n' +
      'line 3, column 3: "voice" is not a field of the file. Its fields are models, voice_second, browser_second.',
  );
});

test("the error lists at most 20 mistakes", async () => {
  const fields = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`x${index}`, 1]));
  const lines = (await errorOf(JSON.stringify(fields))).split("\n");
  expect([lines.length, lines.at(-1)]).toEqual([22, "There are 5 more mistakes."]);
});

test("a missing file is an error", async () => {
  await expect(readOperatorPrices(join(folder, "missing.json"))).rejects.toThrow(
    /^BECKON_PRICES names .*missing\.json, which cannot be read: ENOENT/,
  );
});

test("a folder is an error", async () => {
  await expect(readOperatorPrices(folder)).rejects.toThrow(/which cannot be read: EISDIR/);
});

test("a file that is not UTF-8 is an error", async () => {
  expect(await errorOf(Uint8Array.of(0x7b, 0xff, 0x7d))).toBe(
    `BECKON_PRICES names ${path}, which cannot be read: it is not UTF-8.`,
  );
});

test("a file over 1 MiB is an error", async () => {
  expect(await errorOf(" ".repeat(1_048_577))).toBe(
    `BECKON_PRICES names ${path}, which cannot be read: it has 1048577 bytes, and at most 1048576 are allowed.`,
  );
});
