import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { startModelServer } from "../../test/model-server.ts";

/**
 * Executes every ```sh block of each page in docs/providers, in order. Only the provider's URL is
 * replaced, by the URL of a scripted model server.
 */

const folder = resolve(import.meta.dirname, "../../../docs/providers");
const models = await startModelServer();
afterAll(() => models.close());
const beckon = await startTestBeckon({ BECKON_EGRESS_ALLOW: new URL(models.url).host });

test.each(readdirSync(folder).filter((page) => page !== "README.md"))(
  "what docs/providers/%s says works as it stands",
  async (page) => {
    const text = readFileSync(join(folder, page), "utf8");
    const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
    const variables: Record<string, string> = {
      URL: beckon.url,
      KEY: beckon.key,
      OPENAI_API_KEY: "key-0123456789",
      ANTHROPIC_API_KEY: "key-0123456789",
      GOOGLE_GENERATIVE_AI_API_KEY: "key-0123456789",
    };
    const answers: unknown[] = [];
    for (const block of blocks) {
      const here = block
        .replace(/"base_url": "http:[^"]*"/, `"base_url": "${models.url}"`)
        .replace(/("kind": "(?:openai|anthropic|google)"),/, `$1, "base_url": "${models.url}",`);
      const { stdout } = await promisify(execFile)(
        "sh",
        ["-ec", here.replaceAll("curl ", "curl -sS ")],
        {
          env: { ...variables, PATH: process.env.PATH },
        },
      );
      const answer = JSON.parse(stdout);
      answers.push(answer);
      if (answer.data?.kind !== undefined) variables.PROVIDER = answer.data.id;
      if (answer.data?.token !== undefined)
        Object.assign(variables, { AGENT: answer.data.id, TOKEN: answer.data.token });
    }
    expect(answers).toMatchObject([
      { ok: true, data: { id: expect.stringMatching(/^prv_/) } },
      { ok: true, data: { works: true, models: ["scripted"], error: null } },
      { ok: true, data: { id: expect.stringMatching(/^agt_/) } },
      { ok: true, output: "Hello" },
    ]);
  },
);
