import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { asShown } from "../../test/as-shown.ts";
import { startTestBeckon } from "../../test/beckon.ts";
import { startTargetServer } from "../../test/target-server.ts";

/**
 * docs/tools/http.md is executed: every block of ```sh, in order; what the ```json after it shows is what is answered, where `…`
 * stands for anything. Only the address of the API is another one: a server of the test stands in for it.
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

test("what docs/tools/http.md says works as it stands", async () => {
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
    const answer = JSON.parse(stdout);
    expect(answer).toMatchObject({ ok: true });
    if (answer.data?.token !== undefined)
      Object.assign(variables, { AGENT: answer.data.id, TOKEN: answer.data.token });
    const next = fences[index + 1];
    if (next?.kind === "json") expect(answer).toEqual(asShown(JSON.parse(asHere(next.text))));
  }
  expect(target.reached).toMatchObject([
    {
      method: "GET",
      url: "/v1/orders/4711?fields=state&format=short",
      headers: { authorization: "Bearer shop-key-0123456789" },
    },
  ]);
});
