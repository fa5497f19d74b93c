import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { asShown } from "../../test/as-shown.ts";
import { startTestBeckon } from "../../test/beckon.ts";
import { insertStranger } from "../../test/workspace-key.ts";

/**
 * Executes the commands of docs/export.md. The first command imports the file that the page shows,
 * and the others export the imported agents.
 */

const page = readFileSync(resolve(import.meta.dirname, "../../../docs/export.md"), "utf8");
const blocks = (kind: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${kind}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, text = ""]) => text,
  );
const beckon = await startTestBeckon();

test("the commands of docs/export.md import and export its file", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "beckon-export-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const [file = ""] = blocks("yaml");
  writeFileSync(join(cwd, "agents.yaml"), file);
  const variables: Record<string, string> = {
    URL: beckon.url,
    KEY: await insertStranger(beckon),
    PATH: process.env.PATH ?? "",
  };
  const run = async (command = "") =>
    (
      await promisify(execFile)("sh", ["-ec", command.replaceAll("curl ", "curl -sS ")], {
        cwd,
        env: variables,
      })
    ).stdout;
  const [importing, exportAll, exportOne, ...more] = blocks("sh");

  const made = JSON.parse(await run(importing));
  expect(made).toEqual(asShown(JSON.parse(blocks("json")[0] ?? "")));
  variables.AGENT = made.data.agents[0].id;
  const all = parseYaml(await run(exportAll));
  expect(all).toMatchObject(parseYaml(file));
  expect(JSON.parse(await run(exportOne))).toEqual(all);
  expect(more).toEqual([]);
});
