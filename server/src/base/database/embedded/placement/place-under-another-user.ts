import { chmod, chown, mkdir, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ConfigError, messageOf } from "../../../errors.ts";
import { EmbeddedError } from "../embedded-error.ts";
import { isReachable } from "../exists.ts";
import { runCommand } from "../run-command.ts";
import { type Account, unprivilegedAccounts } from "./accounts.ts";
import { copyBinaries } from "./copy-binaries.ts";
import type { Binaries } from "./find-binaries.ts";
import { hashOf, type Placement, programIn } from "./placement.ts";
import { homeRecordOf, readRecordedHome } from "./recorded-home.ts";

/**
 * Returns whether PostgreSQL's files of this data folder are in a folder of another user, or
 * whether `recordHome` has recorded this. Unlike `hasHomeRecord`, this is also true if the process
 * was killed after it created the cluster and before it recorded its home.
 */
export async function isUnderAnotherUser(folder: string): Promise<boolean> {
  return (
    (await isReachable(join(homeOf(folder), "postgres"))) ||
    (await readRecordedHome(folder)) !== undefined
  );
}

/**
 * Returns the folder of a cluster that is outside of the data folder: the recorded folder, else the
 * default one. Callers must have checked that the cluster is outside.
 */
export async function homeUnderAnotherUser(folder: string): Promise<string> {
  return (await readRecordedHome(folder)) ?? homeOf(folder);
}

/** `f_type` of overlayfs in statfs(2), the file system in which containers write. */
const overlayfs = 0x794c7630;

/**
 * Checks that a new cluster outside of the data folder would not be lost with the container. On an
 * ordinary machine, /var/lib may be on another file system than the data folder, so the type of the
 * file system is checked too. If the data folder is itself on the container's file system, both are
 * removed together.
 * @throws ConfigError if the cluster would be on overlayfs and the data folder is not.
 */
export async function rejectContainerLayer(folder: string): Promise<void> {
  let parent = homeOf(folder);
  while (!(await isReachable(parent))) parent = dirname(parent);
  const [{ type }, its, dataFolder] = await Promise.all([
    statfs(parent),
    stat(parent),
    stat(folder),
  ]);
  if (type !== overlayfs || its.dev === dataFolder.dev) return;
  throw new ConfigError(
    "PostgreSQL does not run as root, and the folder for its files, /var/lib/beckon, is removed " +
      `with this container, unlike the data folder ${folder}. Run Beckon as an ordinary user who ` +
      "owns the data folder, or mount a volume at /var/lib/beckon.",
  );
}

/**
 * Returns the placement for root if no user namespace can be created: an unprivileged account runs
 * PostgreSQL. That account may be unable to read the checkout or the data folder, so it gets a copy
 * of the binaries and a home in /var/lib/beckon. The copied binaries belong to root. If the home
 * already exists and belongs to an unprivileged user, PostgreSQL runs as that user.
 * @throws EmbeddedError if there is no such account or it cannot run the binaries, or if the
 *   recorded home was moved or removed.
 */
export async function placeUnderAnotherUser({
  folder,
  binaries,
}: {
  folder: string;
  binaries: Binaries;
}): Promise<Placement> {
  const home = homeOf(folder);
  const recorded = await readRecordedHome(folder);
  if (
    recorded !== undefined &&
    (recorded !== home || !(await isReachable(join(home, "postgres"))))
  ) {
    throw new EmbeddedError(
      `PostgreSQL's files of ${folder} were created in ${recorded}, and ${home}, where they ` +
        "are expected now, does not contain them. Move them there (in a container: keep " +
        "/var/lib/beckon on a volume), or, to start empty, remove " +
        `${homeRecordOf(folder)}.`,
    );
  }
  const owner = await ownerOf(home);
  if (owner === undefined) {
    throw new EmbeddedError(
      "PostgreSQL does not run as root, and /etc/passwd has neither beckon nor postgres nor " +
        "nobody to run it as. Start Beckon as an ordinary user, or set DATABASE_URL to your own " +
        "server.",
    );
  }
  try {
    const copied = await copyBinaries(binaries, dirname(home));
    await letAllRead(copied, dirname(home));
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
      `PostgreSQL does not run as root, and running it as user ${owner.uid} in ${home} ` +
        `failed: ${messageOf(cause)}. Start Beckon as an ordinary user, or set DATABASE_URL to ` +
        "your own server.",
      { cause },
    );
  }
}

/**
 * Lets all users enter `parent`, which contains PostgreSQL's home, and /var/lib/beckon above it,
 * and read the copied binaries. With a umask of 027 or 077, of this process or of the npm that
 * installed the binaries, only root could. A folder of another user is not changed.
 */
async function letAllRead({ native }: Binaries, parent: string): Promise<void> {
  for (const each of [dirname(parent), parent])
    if ((await stat(each)).uid === 0) await chmod(each, 0o755);
  await runCommand(
    { name: "chmod", file: "chmod", args: ["-R", "a+rX", dirname(native)] },
    { timeoutMs: 20_000 },
  );
}

function homeOf(folder: string): string {
  return `/var/lib/beckon/${hashOf(folder)}/home`;
}

async function ownerOf(home: string): Promise<Pick<Account, "uid" | "gid"> | undefined> {
  const existing = await stat(home).catch(() => undefined);
  if (existing !== undefined && existing.uid !== 0) return existing;
  return (await unprivilegedAccounts())[0];
}
