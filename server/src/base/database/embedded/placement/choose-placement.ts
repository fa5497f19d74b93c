import { stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { EmbeddedError } from "../embedded-error.ts";
import { copyBinaries } from "./copy-binaries.ts";
import { type Binaries, findBinaries } from "./find-binaries.ts";
import { placeInNamespace } from "./place-in-namespace.ts";
import {
  isUnderAnotherUser,
  placeUnderAnotherUser,
  rejectContainerLayer,
} from "./place-under-another-user.ts";
import type { Placement } from "./placement.ts";
import { restoreLinks } from "./restore-links.ts";

/**
 * Chooses the folder and the user for PostgreSQL. initdb rejects root, and users that have no name
 * in /etc/passwd, so there are three ways:
 * - An ordinary user runs PostgreSQL directly.
 * - Root, or a user without a name, runs PostgreSQL in a user namespace. PostgreSQL sees another
 *   uid there, but its files are in the data folder and belong to the user who runs Beckon.
 * - If the kernel or the container forbids user namespaces, root runs PostgreSQL as another user in
 *   another folder.
 *
 * If a cluster exists, its owner and location decide, so that a change of the machine never leads
 * to a new, empty cluster.
 * @throws EmbeddedError if no way works. ConfigError if the only way would create a cluster that is
 *   lost with the container.
 */
export async function choosePlacement(folder: string): Promise<Placement> {
  const binaries = await usableBinaries(folder);
  const me = process.geteuid?.() ?? 0;
  const cluster = await stat(join(folder, "postgres")).catch(() => undefined);
  if (cluster !== undefined && cluster.uid !== me) {
    throw new EmbeddedError(
      `PostgreSQL's files in ${folder} belong to user ${cluster.uid}, and this is user ${me}. ` +
        "Start Beckon as the user who created them.",
    );
  }
  const isOutside = await isUnderAnotherUser(folder);
  if (isOutside && me !== 0) {
    throw new EmbeddedError(
      `PostgreSQL's files of ${folder} are in a folder of another user, and only root can ` +
        "start them. Start Beckon as root.",
    );
  }
  if (isOutside) return placeUnderAnotherUser({ folder, binaries });
  if (me !== 0 && hasName()) return { binaries, home: folder, owner: undefined, wrapper: [] };
  const outcome = await placeInNamespace({ folder, binaries });
  if (outcome.placement !== undefined) return outcome.placement;
  if (me === 0 && cluster === undefined) {
    await rejectContainerLayer(folder);
    return placeUnderAnotherUser({ folder, binaries });
  }
  throw new EmbeddedError(
    me === 0
      ? `PostgreSQL's files in ${folder} were created in a user namespace, and none can be ` +
          `created now: ${outcome.reason}. Allow user namespaces again (sysctl ` +
          "user.max_user_namespaces), or set DATABASE_URL to your own server."
      : `User ${me} has no name in /etc/passwd, which PostgreSQL needs, and no user namespace ` +
          `can be created: ${outcome.reason}. Run as a user with a name, or set DATABASE_URL to ` +
          "your own server.",
  );
}

/**
 * Returns the binaries. If symbolic links between libraries are missing and cannot be created,
 * because the checkout is read-only, returns a copy of the binaries in the data folder.
 */
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
