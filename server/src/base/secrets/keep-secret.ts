import { randomUUID } from "node:crypto";
import { link, open, readFile, unlink } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * The secret kept in the file `path` (0600), made by `make` the first time. It is on disk before anyone gets it, and appears under
 * its name whole, by a link: a start that was killed leaves no half secret, and of two at once both get the same one.
 * Rejected: a rename, with which the later of the two would replace what the earlier has already used.
 * @throws when the file cannot be read or made, or is empty: then it is damaged, and a new one would not open what the old sealed.
 */
export async function keepSecret(path: string, make: () => string): Promise<string> {
  const kept = await readSecret(path);
  if (kept !== undefined) return kept;
  const fresh = `${path}.${randomUUID()}`;
  const file = await open(fresh, "wx", 0o600);
  try {
    await file.writeFile(`${make()}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await link(fresh, path).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== "EEXIST") throw thrown;
  });
  await unlink(fresh);
  const folder = await open(dirname(path), "r");
  await folder.sync().finally(() => folder.close());
  const linked = await readSecret(path);
  if (linked === undefined) throw new Error(`${path} disappeared while Beckon started.`);
  return linked;
}

async function readSecret(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT") return undefined;
    throw thrown;
  });
  if (text?.trim() === "")
    throw new Error(
      `${path} is empty. Restore it from a backup; only if there is none, remove it.`,
    );
  return text?.trim();
}
