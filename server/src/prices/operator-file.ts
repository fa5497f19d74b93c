import { readFile, stat } from "node:fs/promises";
import { ConfigError, messageOf } from "../base/errors.ts";
import { noOperatorPrices, type OperatorPrices } from "./operator-prices.ts";
import { PriceMistakes, parseOperatorPrices } from "./parse-operator-prices.ts";

/** Maximum size of the file: over 10,000 models. */
const maxBytes = 1024 * 1024;
/** Maximum number of mistakes that one error lists. */
const maxListed = 20;

/**
 * Reads the operator's prices.
 * @param path of the file in the setting BECKON_PRICES; undefined if it is not set.
 * @throws ConfigError if the file cannot be read or is not valid. The message contains the line and
 *   column of every mistake.
 */
export async function readOperatorPrices(path: string | undefined): Promise<OperatorPrices> {
  if (path === undefined) return noOperatorPrices;
  const text = await textOf(path);
  try {
    return parseOperatorPrices(text);
  } catch (thrown) {
    if (!(thrown instanceof PriceMistakes)) throw thrown;
    const lines = thrown.list
      .slice(0, maxListed)
      .map(({ line, column, what }) => `line ${line}, column ${column}: ${what}.`);
    const more = thrown.list.length - lines.length;
    if (more > 0) lines.push(`There are ${more} more mistakes.`);
    throw new ConfigError(
      `BECKON_PRICES names ${path}, which is not valid. Correct it and start again.\n${lines.join("\n")}`,
    );
  }
}

async function textOf(path: string): Promise<string> {
  const unreadable = (why: string) =>
    new ConfigError(`BECKON_PRICES names ${path}, which cannot be read: ${why}.`);
  let bytes: Buffer;
  try {
    const { size } = await stat(path);
    if (size > maxBytes)
      throw unreadable(`it has ${size} bytes, and at most ${maxBytes} are allowed`);
    bytes = await readFile(path);
  } catch (thrown) {
    throw thrown instanceof ConfigError ? thrown : unreadable(messageOf(thrown));
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unreadable("it is not UTF-8");
  }
}
