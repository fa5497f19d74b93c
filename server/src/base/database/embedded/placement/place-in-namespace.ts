import { messageOf } from "../../../errors.ts";
import { runCommand } from "../run-command.ts";
import { lesserAccounts } from "./accounts.ts";
import type { Binaries } from "./find-binaries.ts";
import type { Placement } from "./placement.ts";

/**
 * A user namespace in which this process's user appears as an ordinary one. To the kernel files and sockets stay this user's, so
 * a folder that only root may enter works; what is lost is root's power over other users' files, hence the attempt below.
 * The attempt is real, because every cheaper sign (kernel version, sysctl, being in a container) has been wrong somewhere.
 */
export async function placeInNamespace({
  folder,
  binaries,
}: {
  folder: string;
  binaries: Binaries;
}): Promise<{ placement: Placement; reason?: never } | { placement?: never; reason: string }> {
  const [account] = (await lesserAccounts()).toReversed();
  if (account === undefined) return { reason: "/etc/passwd has no account nobody" };
  const wrapper = [
    "unshare",
    "--user",
    `--map-user=${account.uid}`,
    `--map-group=${account.gid}`,
    "--",
  ];
  const [file, ...args] = [
    ...wrapper,
    "/bin/sh",
    "-c",
    'test -w "$1" && exec "$2" --version',
    "sh",
    folder,
  ];
  try {
    await runCommand(
      { name: "unshare", file: file ?? "", args: [...args, `${binaries.native}/bin/initdb`] },
      { timeoutMs: 20_000 },
    );
  } catch (thrown) {
    return { reason: messageOf(thrown) };
  }
  return { placement: { binaries, home: folder, owner: undefined, wrapper } };
}
