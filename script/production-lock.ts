/** A package in a lock file of npm, version 3. */
interface LockedPackage {
  /** The package's own name, if it is installed under another one. */
  readonly name?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

interface Manifest extends LockedPackage {
  readonly name: string;
  readonly version: string;
}

/** A dependency of the published package, and the part of the checkout that declares it. */
interface Origin {
  /** The package's own name. The published package can refer to it by an alias. */
  readonly name: string;
  /** Folder of the workspace that depends on the package. */
  readonly workspace: string;
}

interface Lock {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/**
 * Returns a lock file for the published package. It has only the packages that this package needs,
 * at the versions of the checkout's lock file.
 * @param originOf returns the package of the checkout that a dependency of `manifest` refers to
 * @throws Error if a package is missing, or is needed in two versions at one path
 */
export function lockOf(
  manifest: Manifest,
  { packages, lockfileVersion }: Lock,
  originOf: (dependency: string) => Origin,
): unknown {
  const needed = new Map<string, LockedPackage>();
  const pending = needsOf(manifest).map(({ name: alias, isOptional }) => {
    const { name, workspace } = originOf(alias);
    return { name, isOptional, from: workspace, alias: name === alias ? undefined : alias };
  });
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const path = find(next.name, next.from, packages);
    const locked = packages[path ?? ""];
    if (path === undefined || locked === undefined) {
      if (next.isOptional) continue;
      throw new Error(`package-lock.json has no ${next.name} for ${next.from}`);
    }
    if (next.alias !== undefined) {
      needed.set(`node_modules/${next.alias}`, { name: next.name, ...locked });
      pending.push(...needsOf(locked).map((need) => ({ ...need, from: path, alias: undefined })));
      continue;
    }
    // A package in the node_modules of a workspace moves to the node_modules of the root.
    const target = path.slice(path.indexOf("node_modules/"));
    const known = needed.get(target);
    if (known === locked) continue;
    if (known !== undefined) throw new Error(`${target} is needed in two versions`);
    needed.set(target, locked);
    pending.push(...needsOf(locked).map((need) => ({ ...need, from: path, alias: undefined })));
  }
  const { name, version } = manifest;
  const sorted = [...needed].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    ...{ name, version, lockfileVersion, requires: true },
    packages: { "": manifest, ...Object.fromEntries(sorted) },
  };
}

function needsOf(locked: LockedPackage): { name: string; isOptional: boolean }[] {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = locked;
  const isOptionalPeer = (name: string) => locked.peerDependenciesMeta?.[name]?.optional === true;
  return [
    ...Object.keys(dependencies).map((name) => ({ name, isOptional: false })),
    ...Object.keys(optionalDependencies).map((name) => ({ name, isOptional: true })),
    ...Object.keys(peerDependencies)
      .filter((name) => !isOptionalPeer(name))
      .map((name) => ({ name, isOptional: false })),
  ];
}

/**
 * Returns the path of a package as Node.js resolves it from a folder; undefined if it is missing.
 */
function find(name: string, from: string, packages: Lock["packages"]): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (folder === "") return undefined;
  }
}
