import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { brotliCompress, gzip, constants as zlib } from "node:zlib";
import { build } from "vite";

/**
 * Builds the dashboard in a temporary folder, compresses its files, and then replaces web/dist.
 * Several builds can run at the same time. The shell script `script/build-web` runs this file and
 * passes it the list of sources on standard input. The list is stored in web/dist/.sources, so that
 * `script/build-web` can skip the build while the sources are the same.
 */
const web = resolve(import.meta.dirname, "../web");
const dist = join(web, "dist");

const sources = await text(process.stdin);
await mkdir(join(web, "tmp"), { recursive: true });
const folder = await mkdtemp(join(web, "tmp/build-"));
try {
  const built = join(folder, "dist");
  await build({ root: web, logLevel: "warn", build: { outDir: built } });
  await addFontLicences(join(built, ".vite/license.md"));
  await compressFiles(join(built, "assets"));
  await writeFile(join(built, ".sources"), sources);
  await replaceFolder(built);
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.message : thrown);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Adds the licences of the fonts to the list, in which Vite writes those of modules only. */
async function addFontLicences(list: string): Promise<void> {
  const { dependencies } = JSON.parse(await readFile(join(web, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    if (!name.startsWith("@fontsource")) continue;
    const folder = join(web, "../node_modules", name);
    const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const licence = await readFile(join(folder, "LICENSE"), "utf8");
    await appendFile(list, `\n## ${name} - ${version} (${license})\n\n${licence}`);
  }
}

/** Writes `<file>.br` and `<file>.gz` beside each file of text. Fonts are compressed already. */
async function compressFiles(assets: string): Promise<void> {
  const files = (await readdir(assets)).filter((file) => /\.(css|js|json|svg)$/.test(file));
  await Promise.all(
    files.map(async (file) => {
      const path = join(assets, file);
      const bytes = await readFile(path);
      const size = { [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length };
      await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params: size }));
      await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
    }),
  );
}

/**
 * Moves `built` to web/dist. A folder cannot be renamed to the name of a folder that has files, so
 * an existing web/dist is moved away first. A concurrent build can create web/dist again after
 * that, so both steps are repeated.
 */
async function replaceFolder(built: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await rename(built, dist);
      return;
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      if ((code !== "ENOTEMPTY" && code !== "EEXIST") || attempt === 10) throw thrown;
    }
    await rename(dist, join(folder, `replaced-${attempt}`)).catch(ignoreMissing);
  }
}

/** Ignores that web/dist does not exist: another build has already moved it. */
function ignoreMissing(thrown: NodeJS.ErrnoException): void {
  if (thrown.code !== "ENOENT") throw thrown;
}
