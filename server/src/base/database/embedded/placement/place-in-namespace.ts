import { messageOf } from "../../../errors.ts";
import { runCommand } from "../run-command.ts";
import { unprivilegedAccounts } from "./accounts.ts";
import type { Binaries } from "./find-binaries.ts";
import type { Placement } from "./placement.ts";

/**
 * Checks whether PostgreSQL, which does not run as root, can run in a user namespace. In the
 * namespace root has an ordinary user id and still owns its files, but cannot access files of other
 * users. The check tests in a namespace that the folder can be written and that initdb can run.
 * Rejected: to check the kernel version, sysctls and the container, which gave wrong results.
 * @returns the placement, or the reason why PostgreSQL cannot run in a user namespace.
 */
export async function placeInNamespace({
  folder,
  binaries,
}: {
  folder: string;
  binaries: Binaries;
}): Promise<{ placement: Placement; reason?: never } | { placement?: never; reason: string }> {
  // PostgreSQL only needs its user id to have a name, so any of these accounts works. The order is
  // reversed so that `nobody` comes first, which most systems have.
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
