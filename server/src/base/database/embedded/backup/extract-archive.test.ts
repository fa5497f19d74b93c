import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createExtractor } from "./extract-archive.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "beckon-extract-"));
  folders.push(folder);
  return folder;
}

/** Returns an entry as PostgreSQL's `tar.c` writes it. */
function entry(path: string, content = "", kind = "0", prefix = ""): Buffer {
  const header = Buffer.alloc(512);
  header.write(path, 0);
  header.write("0000600", 100);
  header.write(content.length.toString(8).padStart(11, "0"), 124);
  header.write(kind, 156);
  header.write(prefix, 345);
  const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
  body.write(content);
  return Buffer.concat([header, body]);
}

const archive = Buffer.concat([
  entry("backup_label", "START WAL LOCATION"),
  entry("base/", "", "5"),
  entry("base/1/1259", "x".repeat(1_024)),
  entry("empty"),
  entry("000000010000000000000002", "wal", "\0", "pg_wal"),
  Buffer.alloc(1_024),
]);

test.each([1, 7, 511, 512, 513, 100_000])(
  "an archive in pieces of %d bytes becomes files with their checksums",
  (size) => {
    const folder = emptyFolder();
    const extractor = createExtractor(folder);
    for (let at = 0; at < archive.length; at += size)
      extractor.write(archive.subarray(at, at + size));
    extractor.end();
    extractor.add("backup_manifest", Buffer.from("{}"));
    expect(extractor.folders).toEqual(["base"]);
    expect(extractor.files.map(({ path, bytes }) => [path, bytes])).toEqual([
      ["backup_label", 18],
      ["base/1/1259", 1_024],
      ["empty", 0],
      ["pg_wal/000000010000000000000002", 3],
      ["backup_manifest", 2],
    ]);
    for (const { path, sha256 } of extractor.files) {
      const content = readFileSync(join(folder, path));
      expect(createHash("sha256").update(content).digest("hex")).toBe(sha256);
      expect(statSync(join(folder, path)).mode & 0o777).toBe(0o600);
    }
  },
);

test("an archive that ends within a file is rejected", () => {
  const extractor = createExtractor(emptyFolder());
  extractor.write(entry("file", "content").subarray(0, 515));
  expect(() => extractor.end()).toThrow("incomplete archive");
  extractor.close();
});

test.each(["../file", "/etc/passwd", "base/../../file"])("the path %s is rejected", (path) => {
  const folder = emptyFolder();
  const extractor = createExtractor(folder);
  expect(() => extractor.write(entry(path, "content"))).toThrow("invalid path");
  expect(readdirSync(folder)).toEqual([]);
});

test("a link to a tablespace is rejected", () => {
  const extractor = createExtractor(emptyFolder());
  expect(() => extractor.write(entry("pg_tblspc/16384", "", "2"))).toThrow(
    "a backup cannot contain",
  );
});
