import { messageOf } from "../../../errors.ts";
import { runCommand } from "../run-command.ts";
import { unprivilegedAccounts } from "./accounts.ts";
import type { Binaries } from "./find-binaries.ts";
import type { Placement } from "./placement.ts";

/**
 * Tries to run PostgreSQL in a user namespace that maps this process's user to an ordinary one. For
 * the kernel, files and sockets still belong to this user, so a folder that only root can enter
 * works. Root's access to other users' files is lost, so writing to the folder is part of the
 * attempt. It is a real attempt, because cheaper indications (kernel version, sysctl, container
 * detection) have been wrong.
 */
export async function placeInNamespace({
  folder,
  binaries,
}: {
  folder: string;
  binaries: Binaries;
}): Promise<{ placement: Placement; reason?: never } | { placement?: never; reason: string }> {
  const [account] = (await unprivilegedAccounts()).toReversed();
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
