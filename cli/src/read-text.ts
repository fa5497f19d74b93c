import { readFile, stat } from "node:fs/promises";
import { decodeUtf8, type Terminal, UsageError } from "./terminal.ts";

/**
 * Reads a text file, or standard input if the path is `-`.
 * @throws UsageError if it cannot be read, is larger than `maxBytes` or is not UTF-8
 */
export async function readTextFile(
  path: string,
  maxBytes: number,
  terminal: Terminal,
): Promise<string> {
  if (path === "-") {
    if (terminal.isInputTerminal) terminal.err("Reading standard input; Ctrl-D ends it.\n");
    return terminal.readInput(maxBytes);
  }
  try {
    const { size } = await stat(path);
    if (size > maxBytes)
      throw new UsageError(`${path} has ${size} bytes; the maximum is ${maxBytes}. Shorten it.`);
    return decodeUtf8(await readFile(path), path);
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    throw new UsageError(
      `${path} cannot be read (${codeOf(thrown)}). Name a readable file, or - for standard input.`,
    );
  }
}

/** Returns the code of a system error, for example ENOSPC; empty for any other error. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
}

/**
 * Maximum size in bytes of an input as JSON. It is `maxInputBytes` of the contract. The contract is
 * not imported because every command would load Zod.
 */
export const maxInputBytes = 1_048_576;

/**
 * Returns the argument or the content of `file`; `-` stands for standard input. Without them,
 * returns standard input, or undefined if that is a terminal.
 * @throws UsageError if there are both, or an input cannot be read or is larger than `maxBytes`
 */
export async function readInput(
  { argument, file }: { argument: string | undefined; file: string | undefined },
  maxBytes: number,
  terminal: Terminal,
): Promise<string | undefined> {
  if (argument !== undefined && file !== undefined)
    throw new UsageError("There is an input as argument and by --file. Give one of them.");
  if (file !== undefined) return readTextFile(file, maxBytes, terminal);
  if (argument === "-") return readTextFile("-", maxBytes, terminal);
  if (argument !== undefined) return argument;
  return terminal.isInputTerminal ? undefined : terminal.readInput(maxBytes);
}
