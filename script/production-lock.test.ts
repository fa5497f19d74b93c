import { expect, test } from "vitest";
import { lockOf } from "./production-lock.ts";

const manifest = {
  name: "beckon",
  version: "1.2.3",
  dependencies: { a: "1.0.0" },
  optionalDependencies: { elsewhere: "1.0.0" },
};
const locked = (version: string, dependencies: Record<string, string> = {}) => ({
  version,
  dependencies,
});
const inServer = (name: string) => ({ name, workspace: "server" });

test("the lock has what the package needs, as Node.js resolves it, and nothing else", () => {
  const packages = {
    "": {},
    web: locked("1.0.0", { unneeded: "1.0.0" }),
    server: locked("1.0.0", { a: "1.0.0" }),
    "node_modules/unneeded": locked("1.0.0"),
    "node_modules/b": locked("1.0.0"),
    "node_modules/c": {
      ...locked("1.0.0"),
      peerDependencies: { peer: "*", react: "*" },
      peerDependenciesMeta: { react: { optional: true } },
    },
    "node_modules/peer": locked("1.0.0"),
    "node_modules/react": locked("1.0.0"),
    "server/node_modules/a": locked("1.0.0", { b: "2.0.0", c: "1.0.0" }),
    "server/node_modules/a/node_modules/b": locked("2.0.0"),
  };
  expect(lockOf(manifest, { lockfileVersion: 3, packages }, inServer)).toEqual({
    name: "beckon",
    version: "1.2.3",
    lockfileVersion: 3,
    requires: true,
    packages: {
      "": manifest,
      "node_modules/a": packages["server/node_modules/a"],
      "node_modules/a/node_modules/b": packages["server/node_modules/a/node_modules/b"],
      "node_modules/c": packages["node_modules/c"],
      "node_modules/peer": packages["node_modules/peer"],
    },
  });
});

test("a package that is not in the lock, or in two versions at one path, is an error", () => {
  const missing = { server: locked("1.0.0") };
  expect(() => lockOf(manifest, { lockfileVersion: 3, packages: missing }, inServer)).toThrow(
    "no a for server",
  );
  const twice = {
    server: locked("1.0.0"),
    "server/node_modules/a": locked("1.0.0", { b: "1.0.0" }),
    "node_modules/b": locked("1.0.0", { a: "2.0.0" }),
    "node_modules/a": locked("2.0.0"),
  };
  expect(() => lockOf(manifest, { lockfileVersion: 3, packages: twice }, inServer)).toThrow(
    "node_modules/a is needed in two versions",
  );
});

test("a package that two workspaces need in two versions has an alias", () => {
  const packages = {
    client: locked("1.0.0"),
    server: locked("1.0.0"),
    "node_modules/a": locked("1.0.0"),
    "client/node_modules/a": locked("2.0.0"),
  };
  const two = { ...manifest, dependencies: { a: "1.0.0", "a-of-client": "npm:a@2.0.0" } };
  const originOf = (name: string) =>
    name === "a-of-client" ? { name: "a", workspace: "client" } : inServer(name);
  expect(lockOf(two, { lockfileVersion: 3, packages }, originOf)).toMatchObject({
    packages: {
      "node_modules/a": { version: "1.0.0" },
      "node_modules/a-of-client": { name: "a", version: "2.0.0" },
    },
  });
});
