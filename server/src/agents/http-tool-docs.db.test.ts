import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { asShown } from "../../test/as-shown.ts";
import { startTestBeckon } from "../../test/beckon.ts";
import { startTargetServer } from "../../test/target-server.ts";

/**
 * Executes every ```sh block of docs/tools/http.md in order and compares the response with the
 * ```json block after it, in which `…` matches anything. A test server replaces the called API.
 */

const page = readFileSync(resolve(import.meta.dirname, "../../../docs/tools/http.md"), "utf8");
const target = await startTargetServer();
afterAll(() => target.close());
const beckon = await startTestBeckon();

const fences = [...page.matchAll(/^```(sh|json)\n([\s\S]*?)^```$/gm)].map(
  ([, kind, text = ""]) => ({ kind, text }),
);
const asHere = (text: string) =>
  text.replaceAll("https://api.example.com", target.url).replaceAll("api.example.com", target.host);

test("the commands of docs/tools/http.md print what the page shows", async () => {
  const variables: Record<string, string> = { URL: beckon.url, KEY: beckon.key };
  for (const [index, { kind, text }] of fences.entries()) {
    if (kind !== "sh") continue;
    const { stdout } = await promisify(execFile)(
      "sh",
      ["-ec", asHere(text).replaceAll("curl ", "curl -sS ")],
      {
        env: { ...variables, PATH: process.env.PATH },
      },
    );
    const response = JSON.parse(stdout);
    expect(response).toMatchObject({ ok: true });
    if (response.data?.token !== undefined)
      Object.assign(variables, { AGENT: response.data.id, TOKEN: response.data.token });
    const next = fences[index + 1];
    if (next?.kind === "json") expect(response).toEqual(asShown(JSON.parse(asHere(next.text))));
  }
  expect(target.reached).toMatchObject([
    {
      method: "GET",
      url: "/v1/orders/4711?fields=state&format=short",
      headers: { authorization: "Bearer shop-key-0123456789" },
    },
  ]);
});
