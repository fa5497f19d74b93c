import { randomUUID } from "node:crypto";
import { link, open, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Returns the secret in the file `path` (mode 0600). If the file does not exist, creates it with
 * the secret that `make` returns. The secret is first written and synced under another name, and
 * then `path` becomes a hard link to it. The file at `path` is therefore always complete: a killed
 * startup leaves no partial secret, and two concurrent startups get the same secret. Rejected: a
 * rename, with which the later startup would replace a secret that the earlier one already uses.
 * @throws the error of `make`; or if the file cannot be read or created, or is empty. An empty file
 *   is damaged, and it is not replaced: a new secret could not decrypt what the old one encrypted.
 */
export async function readOrCreateSecret(
  path: string,
  make: () => string | Promise<string>,
): Promise<string> {
  const kept = await readSecret(path);
  if (kept !== undefined) return kept;
  const secret = await make();
  const fresh = `${path}.${randomUUID()}`;
  try {
    const file = await open(fresh, "wx", 0o600);
    try {
      await file.writeFile(`${secret}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(fresh, path).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "EEXIST") throw thrown;
    });
  } finally {
    await rm(fresh, { force: true });
  }
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
