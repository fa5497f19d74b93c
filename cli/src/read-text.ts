import { readFile, stat } from "node:fs/promises";
import { type Terminal, UsageError } from "./terminal.ts";

/**
 * Reads a text file, or standard input if the path is `-`. @throws UsageError if it cannot be read
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
    return await readFile(path, "utf8");
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
    throw new UsageError(
      `${path} cannot be read (${code}). Name a readable file, or - for standard input.`,
    );
  }
}

/** Maximum of the server for a request's body, which is the limit of each input. */
export const maxInputBytes = 1024 * 1024;

/** Returns the argument, the content of `file`, or standard input if it is a pipe or file. */
export async function readInput(
  { argument, file }: { argument: string | undefined; file: string | undefined },
  terminal: Terminal,
): Promise<string | undefined> {
  if (argument !== undefined && file !== undefined)
    throw new UsageError("There is an input as argument and by --file. Give one of them.");
  if (file !== undefined) return readTextFile(file, maxInputBytes, terminal);
  if (argument === "-") return readTextFile("-", maxInputBytes, terminal);
  if (argument !== undefined) return argument;
  return terminal.isInputTerminal ? undefined : terminal.readInput(maxInputBytes);
}
