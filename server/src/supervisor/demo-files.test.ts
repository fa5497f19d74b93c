import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeDemoFiles } from "./demo-files.ts";

const demo = {
  agent_id: "agt_1",
  agent_token: "bka_1",
  trigger_url: "http://x/bkt_1",
  is_offered: true,
};

function parentFolder(): string {
  const parent = mkdtempSync(join(tmpdir(), "beckon-demo-files-"));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  return parent;
}

const mode = (path: string) => statSync(path).mode & 0o777;
const read = (folder: string, name: string) => readFileSync(join(folder, name), "utf8");

test("the secrets are in files for their owner only, in a folder that is created", async () => {
  const folder = join(parentFolder(), "data");
  expect(await writeDemoFiles(folder, demo)).toEqual({
    token: { path: join(folder, "demo.token"), error: undefined },
    trigger: { path: join(folder, "demo.trigger"), error: undefined },
  });
  expect(read(folder, "demo.token")).toBe("bka_1\n");
  expect(read(folder, "demo.trigger")).toBe("http://x/bkt_1\n");
  expect([mode(folder), mode(join(folder, "demo.token"))]).toEqual([0o700, 0o600]);
});

test("a rotated secret replaces the file, and a file that others can read is replaced too", async () => {
  const folder = parentFolder();
  await writeDemoFiles(folder, demo);
  chmodSync(join(folder, "demo.trigger"), 0o644);
  await writeDemoFiles(folder, { ...demo, agent_token: "bka_2" });
  expect(read(folder, "demo.token")).toBe("bka_2\n");
  expect(mode(join(folder, "demo.trigger"))).toBe(0o600);
  expect(readdirSync(folder).sort()).toEqual(["demo.token", "demo.trigger"]);
});

test("a file that is right already is not written again", async () => {
  const folder = parentFolder();
  await writeDemoFiles(folder, demo);
  const before = statSync(join(folder, "demo.token")).ino;
  await writeDemoFiles(folder, demo);
  expect(statSync(join(folder, "demo.token")).ino).toBe(before);
});

test("a secret that is gone leaves no file, and nothing to write makes no folder", async () => {
  const folder = parentFolder();
  await writeDemoFiles(folder, demo);
  const without = await writeDemoFiles(folder, { ...demo, agent_token: null });
  expect(without).toMatchObject({ token: undefined, trigger: { error: undefined } });
  expect(readdirSync(folder)).toEqual(["demo.trigger"]);
  expect(await writeDemoFiles(folder, null)).toEqual({ token: undefined, trigger: undefined });
  expect(readdirSync(folder)).toEqual([]);
  const absent = join(folder, "absent");
  await writeDemoFiles(absent, null);
  expect(existsSync(absent)).toBe(false);
});

test("a folder that cannot be written is an error of the file, and leaves nothing behind", async () => {
  const parent = parentFolder();
  writeFileSync(join(parent, "file"), "");
  for (const folder of [join(parent, "absent/data"), join(parent, "file"), "/proc/beckon/data"]) {
    const { token } = await writeDemoFiles(folder, demo);
    expect(token).toEqual({
      path: join(folder, "demo.token"),
      error: expect.stringMatching(/ENOENT|ENOTDIR/),
    });
  }
  mkdirSync(join(parent, "demo.token"));
  expect((await writeDemoFiles(parent, demo)).token?.error).toMatch(/EISDIR/);
  expect(readdirSync(parent).sort()).toEqual(["demo.token", "demo.trigger", "file"]);
});
