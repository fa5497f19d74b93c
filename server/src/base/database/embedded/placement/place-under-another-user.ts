import { chmod, chown, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../../errors.ts";
import { EmbeddedError } from "../embedded-error.ts";
import { runCommand } from "../run-command.ts";
import { type Account, lesserAccounts } from "./accounts.ts";
import { copyBinaries } from "./copy-binaries.ts";
import type { Binaries } from "./find-binaries.ts";
import { hashOf, type Placement, programIn } from "./placement.ts";

/** Whether PostgreSQL's files of this data folder lie, or lay, under another user. */
export async function standsUnderAnotherUser(folder: string): Promise<boolean> {
  return (
    (await exists(join(homeOf(folder), "postgres"))) || (await rememberedHome(folder)) !== undefined
  );
}

/**
 * Notes in the data folder that its cluster exists and lies in `home`, so that a moved folder, or a container that came back
 * without its /var/lib, is an error instead of an empty installation.
 */
export async function rememberHome(folder: string, home: string): Promise<void> {
  await writeFile(join(folder, "postgres.elsewhere"), `${home}\n`, { mode: 0o600, flush: true });
}

/**
 * For root where no user namespace can be made: an account without power runs copies of the binaries on a home of its own in
 * /var/lib/beckon, because it can enter neither a checkout nor a data folder that are root's alone. The binaries stay root's.
 * The account that owns an existing home is kept, whatever others have appeared since.
 * @throws EmbeddedError when there is no such account or it cannot run them.
 */
export async function placeUnderAnotherUser({
  folder,
  binaries,
}: {
  folder: string;
  binaries: Binaries;
}): Promise<Placement> {
  const home = homeOf(folder);
  const remembered = await rememberedHome(folder);
  if (
    remembered !== undefined &&
    (remembered !== home || !(await exists(join(home, "postgres"))))
  ) {
    throw new EmbeddedError(
      `PostgreSQL's files of ${folder} were made in ${remembered}, and ${home}, where they belong now, does not hold them. Bring them there (in a container: keep /var/lib/beckon on a volume), or, to start empty, remove ${join(folder, "postgres.elsewhere")}.`,
    );
  }
  const owner = await ownerOf(home);
  if (owner === undefined) {
    throw new EmbeddedError(
      "PostgreSQL refuses to run as root, and /etc/passwd has neither beckon nor postgres nor nobody to run it as. Start Beckon as an ordinary user, or name a server of your own with DATABASE_URL.",
    );
  }
  try {
    const copied = await copyBinaries(binaries, join(home, ".."));
    await mkdir(home, { recursive: true, mode: 0o700 });
    await chown(home, owner.uid, owner.gid);
    await chmod(home, 0o700);
    const placement: Placement = {
      binaries: copied,
      home,
      owner: { uid: owner.uid, gid: owner.gid },
      wrapper: [],
    };
    await runCommand(programIn(placement, "initdb", ["--version"]), { timeoutMs: 20_000 });
    return placement;
  } catch (cause) {
    throw new EmbeddedError(
      `PostgreSQL refuses to run as root, and running it as user ${owner.uid} in ${home} failed: ${messageOf(cause)}. Start Beckon as an ordinary user, or name a server of your own with DATABASE_URL.`,
      { cause },
    );
  }
}

function homeOf(folder: string): string {
  return `/var/lib/beckon/${hashOf(folder)}/home`;
}

/** A note that was cut short counts for nothing: then its cluster is still where it was made a moment ago. */
async function rememberedHome(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, "postgres.elsewhere"), "utf8").catch(() => "");
  return text.endsWith("\n") ? text.trim() : undefined;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function ownerOf(home: string): Promise<Pick<Account, "uid" | "gid"> | undefined> {
  const existing = await stat(home).catch(() => undefined);
  if (existing !== undefined && existing.uid !== 0) return existing;
  return (await lesserAccounts())[0];
}
