import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const manifest = (folder: string) => JSON.parse(read(join(folder, "package.json")));
const { version, workspaces } = manifest(".");

test("all packages have the version of the root, and require each other in this version", () => {
  const { packages } = JSON.parse(read("package-lock.json"));
  const versions = ["", ...workspaces].flatMap((folder) => {
    const own = manifest(folder);
    const required = Object.entries({ ...own.dependencies, ...own.devDependencies });
    return [
      [folder, own.version],
      [`${folder} in the lock file`, packages[folder].version],
      ...required.filter(([name]) => name.startsWith("@beckon/")),
    ];
  });
  expect(versions.filter(([, found]) => found !== version)).toEqual([]);
});

test("the documents name the version of the root, and as that of an upgrade the next one", () => {
  const [major, minor] = version.split(".").map(Number);
  const next = `${major}.${minor + 1}.0`;
  const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => join("docs", path));
  const named = ["README.md", "client/README.md", ...pages].flatMap((page) =>
    [...read(page).matchAll(/\b(?:Beckon |beckon-|before-)(\d+\.\d+\.\d+)/g)].map(
      ([, found]) => `${page}: ${found}`,
    ),
  );
  expect(named).toEqual(
    expect.arrayContaining([
      `README.md: ${version}`,
      `docs/install.md: ${version}`,
      `docs/install.md: ${next}`,
    ]),
  );
  const isRight = (each: string) =>
    each.endsWith(`: ${version}`) || each === `docs/install.md: ${next}`;
  expect(named.filter((each) => !isRight(each))).toEqual([]);
});
