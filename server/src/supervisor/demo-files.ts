import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import type { Demo } from "./messages.ts";

/** The files with the demo agent's secrets. A file is undefined if there is no such secret. */
export interface DemoFiles {
  readonly token: DemoFile | undefined;
  readonly trigger: DemoFile | undefined;
}

export interface DemoFile {
  readonly path: string;
  /** The reason why the file could not be written; undefined if it contains the current secret. */
  readonly error: string | undefined;
}

/**
 * Writes the current secrets to the files `demo.token` (the agent's token) and `demo.trigger` (the
 * trigger's URL). Printed commands read these files, so that the output does not show the secrets.
 * Removes a file if its secret no longer exists. Creates the data folder (mode 0700) if there is
 * something to write.
 */
export async function writeDemoFiles(dataDir: string, demo: Demo | null): Promise<DemoFiles> {
  const tokenPath = join(dataDir, "demo.token");
  const triggerPath = join(dataDir, "demo.trigger");
  return {
    token: await writeSecret(dataDir, tokenPath, demo?.agent_token ?? null),
    trigger: await writeSecret(dataDir, triggerPath, demo?.trigger_url ?? null),
  };
}

async function writeSecret(
  dataDir: string,
  path: string,
  secret: string | null,
): Promise<DemoFile | undefined> {
  if (secret === null) {
    // A file that cannot be removed stays. Nothing is reported, because the text that Beckon prints
    // at startup does not name the file.
    await rm(path, { force: true }).catch(() => {});
    return undefined;
  }
  try {
    // Does not create parent folders: with `recursive`, mkdir of Node.js never returns for a path
    // such as /proc/x/data.
    await mkdir(dataDir, 0o700).catch(ignoreExisting);
    const text = `${secret}\n`;
    if (!(await isWritten(path, text))) await replaceFile(path, text);
    return { path, error: undefined };
  } catch (thrown) {
    return { path, error: messageOf(thrown) };
  }
}

/**
 * Returns whether the file has this text and only its owner has access to it. Such a file is not
 * written again, so that a read-only disk causes no error.
 */
async function isWritten(path: string, text: string): Promise<boolean> {
  try {
    const isPrivate = ((await stat(path)).mode & 0o077) === 0;
    return isPrivate && (await readFile(path, "utf8")) === text;
  } catch {
    return false;
  }
}

/** Replaces the file atomically, so that a reader never gets only a part of the text. */
async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}`;
  try {
    const file = await open(temporary, "wx", 0o600);
    await file.writeFile(text).finally(() => file.close());
    await rename(temporary, path);
  } catch (thrown) {
    await rm(temporary, { force: true }).catch(() => {});
    throw thrown;
  }
}

function ignoreExisting(thrown: NodeJS.ErrnoException): void {
  if (thrown.code !== "EEXIST") throw thrown;
}
