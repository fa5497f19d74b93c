import { readFile, stat } from "node:fs/promises";
import { ConfigError, messageOf } from "../errors.ts";
import { JsonMistake, type PositionedJson, readJson, type TextPosition } from "./read-json.ts";

/** A mistake in a settings file. `what` is a sentence without a full stop. */
export interface FileMistake extends TextPosition {
  readonly what: string;
}

/** The mistakes of one file, from top to bottom. */
export class FileMistakes extends Error {
  readonly list: readonly FileMistake[];

  constructor(list: readonly FileMistake[]) {
    super("the file is not valid");
    this.list = list.toSorted((one, other) => one.line - other.line || one.column - other.column);
  }
}

/** Maximum size of a settings file. */
const maxBytes = 1024 * 1024;
/** Maximum number of mistakes that one error lists. */
const maxListed = 20;

/**
 * Reads a JSON file that a setting names.
 * @param setting name of the setting, for errors.
 * @param parse returns the content, or throws FileMistakes.
 * @throws ConfigError if the file cannot be read or is not valid. The message contains the line and
 *   column of every mistake.
 */
export async function readSettingsFile<T>(
  setting: string,
  path: string,
  parse: (text: string) => T,
): Promise<T> {
  const text = await textOf(setting, path);
  try {
    return parse(text);
  } catch (thrown) {
    if (!(thrown instanceof FileMistakes)) throw thrown;
    const lines = thrown.list
      .slice(0, maxListed)
      .map(({ line, column, what }) => `line ${line}, column ${column}: ${what}.`);
    const more = thrown.list.length - lines.length;
    if (more > 0) lines.push(`There are ${more} more mistakes.`);
    throw new ConfigError(
      `${setting} names ${path}, which is not valid. Correct it and start again.\n${lines.join("\n")}`,
    );
  }
}

/** Parses JSON. @throws FileMistakes if it is not valid. */
export function jsonOf(text: string): PositionedJson {
  try {
    return readJson(text);
  } catch (thrown) {
    if (!(thrown instanceof JsonMistake)) throw thrown;
    const what = `the JSON is not valid: ${thrown.message}`;
    throw new FileMistakes([{ ...thrown.position, what }]);
  }
}

async function textOf(setting: string, path: string): Promise<string> {
  const unreadable = (why: string) =>
    new ConfigError(`${setting} names ${path}, which cannot be read: ${why}.`);
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
