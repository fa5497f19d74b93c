import { stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { EmbeddedError } from "../embedded-error.ts";
import { copyBinaries } from "./copy-binaries.ts";
import { type Binaries, findBinaries } from "./find-binaries.ts";
import { placeInNamespace } from "./place-in-namespace.ts";
import { placeUnderAnotherUser, standsUnderAnotherUser } from "./place-under-another-user.ts";
import type { Placement } from "./placement.ts";
import { restoreLinks } from "./restore-links.ts";

/**
 * Decides where and as whom PostgreSQL runs for a data folder. initdb refuses root, and a user without a name; so:
 * an ordinary user runs it directly; root, or a user without a name, in a user namespace that shows another uid while files keep
 * their owner, in the data folder; where the kernel or the container forbids that, root runs it as another user elsewhere.
 * A cluster that exists decides for itself: it is never left behind for an empty one because the machine changed.
 * @throws EmbeddedError with the remedy when no way works.
 */
export async function choosePlacement(folder: string): Promise<Placement> {
  const binaries = await usableBinaries(folder);
  const me = process.geteuid?.() ?? 0;
  const cluster = await stat(join(folder, "postgres")).catch(() => undefined);
  if (cluster !== undefined && cluster.uid !== me) {
    throw new EmbeddedError(
      `PostgreSQL's files in ${folder} belong to user ${cluster.uid}, and this is user ${me}. Start Beckon as the user who made them.`,
    );
  }
  const apart = await standsUnderAnotherUser(folder);
  if (apart && me !== 0) {
    throw new EmbeddedError(
      `PostgreSQL's files of ${folder} lie under another user, and only root can start them. Start Beckon as root.`,
    );
  }
  if (apart) return placeUnderAnotherUser({ folder, binaries });
  if (me !== 0 && hasName()) return { binaries, home: folder, owner: undefined, wrapper: [] };
  const outcome = await placeInNamespace({ folder, binaries });
  if (outcome.placement !== undefined) return outcome.placement;
  if (me === 0 && cluster === undefined) return placeUnderAnotherUser({ folder, binaries });
  throw new EmbeddedError(
    me === 0
      ? `PostgreSQL's files in ${folder} were made in a user namespace, and none can be made now: ${outcome.reason}. Allow user namespaces again (sysctl user.max_user_namespaces), or name a server of your own with DATABASE_URL.`
      : `User ${me} has no name in /etc/passwd, which PostgreSQL needs, and no user namespace can be made: ${outcome.reason}. Run as a user with a name, or name a server of your own with DATABASE_URL.`,
  );
}

/** A checkout that lost its library links and cannot be written is copied into the data folder. */
async function usableBinaries(folder: string): Promise<Binaries> {
  const binaries = await findBinaries();
  try {
    await restoreLinks(binaries.native);
    return binaries;
  } catch {
    return copyBinaries(binaries, folder);
  }
}

function hasName(): boolean {
  try {
    return userInfo().username !== "";
  } catch {
    return false;
  }
}
