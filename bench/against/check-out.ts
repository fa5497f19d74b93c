import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/**
 * Checks a commit out to a git worktree in `folder` and provides its packages: linked from the
 * checkout if the lock files are equal, else installed with `npm ci`. The worktree is removed when
 * `opened` is disposed. Returns the commit's abbreviated hash.
 * @throws if the checkout's repository does not have the commit, or the packages cannot be
 *   installed.
 */
export async function checkOut(
  opened: AsyncDisposableStack,
  commit: string,
  { checkout, folder }: { checkout: string; folder: string },
): Promise<string> {
  const git = (...args: string[]) => execute(opened, "git", args, checkout);
  const hash = await git(
    "rev-parse",
    "--verify",
    "--short",
    "--end-of-options",
    `${commit}^{commit}`,
  ).then(
    (printed) => printed.trim(),
    (cause) => {
      throw new Error(
        `There is no commit "${commit}" in ${checkout}. Name a commit, a tag or a branch.`,
        { cause },
      );
    },
  );
  opened.defer(() => removeWorktree(checkout, folder));
  await git("worktree", "add", "--quiet", "--detach", folder, hash);
  const lockFiles = [checkout, folder].map((root) =>
    readFile(join(root, "package-lock.json"), "utf8"),
  );
  const [ours, theirs] = await Promise.all(lockFiles);
  if (ours === theirs) await linkPackages(checkout, folder);
  else await execute(opened, "npm", ["ci", "--loglevel=error"], folder);
  return hash;
}

/** Links the installed packages of one checkout into another that has the same lock file. */
export async function linkPackages(from: string, to: string): Promise<void> {
  const { workspaces } = JSON.parse(await readFile(join(from, "package.json"), "utf8")) as {
    workspaces: string[];
  };
  for (const workspace of [".", ...workspaces]) {
    const packages = join(from, workspace, "node_modules");
    if (existsSync(packages)) await linkFolder(packages, join(to, workspace, "node_modules"));
  }
}

async function linkFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    // npm links workspace packages with relative links. An unchanged copy of such a link points to
    // the code in `to`, so each version runs its own code.
    if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else if (entry.name.startsWith("@")) await linkFolder(source, target);
    else if (entry.name !== ".cache") await symlink(source, target);
  }
}

async function removeWorktree(checkout: string, folder: string): Promise<void> {
  // This fails if the worktree was not created; then there is nothing to remove.
  await promisify(execFile)("git", ["worktree", "remove", "--force", folder], {
    cwd: checkout,
  }).catch(() => {});
}

async function execute(
  opened: AsyncDisposableStack,
  file: string,
  args: readonly string[],
  cwd: string,
): Promise<string> {
  const ending = new AbortController();
  opened.defer(() => ending.abort());
  const { stdout } = await promisify(execFile)(file, args, { cwd, signal: ending.signal });
  return stdout;
}
