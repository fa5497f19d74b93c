import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { startModelServer, status } from "../../server/test/model-server.ts";
import { addPerson } from "../../server/test/people.ts";
import { expectAccessible } from "./accessibility.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";

/** Tests the screen with the code and the token that programs need to call an agent. */

const beckon = await startTestBeckon();
const editor = await addPerson(beckon, { role: "editor" });
const viewer = await addPerson(beckon, { role: "viewer" });
const { body: me } = await editor.call("/me");
const workspaceId: string = me.data.workspaces[0].id;

const open = (agentId: string, options: Parameters<typeof openDashboard>[1] = {}) =>
  openDashboard(beckon.url, {
    as: editor,
    path: `/w/${workspaceId}/agents/${agentId}/connect${options.path ?? ""}`,
    ...Object.fromEntries(Object.entries(options).filter(([name]) => name !== "path")),
  });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
/** Selects a language, and returns its code when the page shows it. */
async function codeOf(page: Page, language: string): Promise<string> {
  await page.getByRole("tab", { name: language }).click();
  await page.getByRole("tab", { name: language, selected: true }).waitFor();
  return (await page.locator("pre").textContent()) ?? "";
}
const statusOf = async (agent: { id: string; token: string }) =>
  (await beckon.invoke(agent, "Hello")).status;

/** Runs a program and returns what it prints, and its exit status. */
async function execute(language: string, code: string, token: string) {
  const folder = mkdtempSync(join(tmpdir(), "beckon-snippet-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "call.mjs");
  writeFileSync(file, code);
  const commands: Record<string, [string, string[]]> = {
    curl: ["sh", [file]],
    TypeScript: [process.execPath, [file]],
    Python: ["python3", [file]],
  };
  const [command, args] = commands[language] ?? ["false", []];
  const env = { PATH: process.env.PATH, BECKON_TOKEN: token };
  return new Promise<{ stdout: string; stderr: string; exitCode: unknown }>((resolve) => {
    execFile(command, args, { env, timeout: 20_000 }, (error, stdout, stderr) =>
      resolve({ stdout, stderr, exitCode: error?.code ?? 0 }),
    );
  });
}
/** Runs a program that must succeed, and returns what it prints. */
async function run(language: string, code: string, token: string): Promise<string> {
  const { stdout, ...rest } = await execute(language, code, token);
  expect(rest).toEqual({ stderr: "", exitCode: 0 });
  return stdout;
}

/** Starts a server that sends this response to every request, and records their headers. */
async function startStub(contentType: string, body: string) {
  const received: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    received.push(headers);
    response.writeHead(200, { "content-type": contentType }).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}
const startStream = (...events: readonly object[]) =>
  startStub(
    "text/event-stream",
    events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""),
  );

inBrowser("every snippet runs as it is shown, and the first call appears", async () => {
  const agent = await beckon.createAgent();
  const page = await open(agent.id);
  await page.getByText("Waiting for the first call").waitFor();
  await page.getByText("Messages in the playground count too.").waitFor();
  for (const command of ["export BECKON_TOKEN=…", "node call.mjs"])
    await page.getByText(command, { exact: true }).waitFor();
  await expectAccessible(page);
  for (const language of ["curl", "TypeScript", "Python"]) {
    const code = await codeOf(page, language);
    expect(code).toContain(beckon.url);
    expect(code).toContain(agent.id);
    expect(await run(language, code, agent.token)).toContain("Hello");
    await page.getByText("A call arrived", { exact: true }).waitFor();
  }
  await button(page, "Stream").click();
  // Waits until the page shows the mode. Before that, the code on the page can still be that of the
  // other mode.
  await page.getByRole("button", { name: "Stream", exact: true, pressed: true }).waitFor();
  for (const language of ["Python", "TypeScript", "curl"]) {
    const code = await codeOf(page, language);
    const printed = await run(language, code, agent.token);
    expect(printed).toContain("run.finished");
    // The echo's answer also is in the step, which only curl prints.
    expect(printed).toContain(language === "curl" ? "run.output.delta" : "\nHello\n");
  }
  await expect.poll(() => new URL(page.url()).search).toBe("?mode=stream");
  await page.getByRole("link", { name: "Open the run" }).click();
  await page.waitForURL(/\/runs\/run_\w+$/);
});

inBrowser("the Python snippet prints the run's id if the run has not ended", async () => {
  const agent = await beckon.createAgent();
  const page = await open(agent.id);
  const code = await codeOf(page, "Python");
  // Gets the same response as a caller whose server stops before the run ends.
  const early = code.replace('"content-type":', '"prefer": "respond-async", "content-type":');
  expect(await run("Python", early, agent.token)).toContain("'run_id': 'run_");
});

inBrowser("the TypeScript snippet gets the run's id before fetch times out", async () => {
  const page = await open((await beckon.createAgent()).id);
  const stub = await startStub("application/json", '{"ok": true, "run_id": "run_1"}');
  const code = (await codeOf(page, "TypeScript")).replace(beckon.url, stub.url);
  expect(await run("TypeScript", code, "token")).toContain("run_id: 'run_1'");
  // The fetch of Node.js waits 300 seconds for a response.
  expect(stub.received).toMatchObject([{ prefer: "wait=240" }]);
});

inBrowser("the Python snippets print what Beckon says about a wrong token", async () => {
  const { id } = await beckon.createAgent();
  for (const path of ["?language=python", "?language=python&mode=stream"]) {
    const page = await open(id, { path });
    expect(await execute("Python", await codeOf(page, "Python"), "wrong")).toEqual({
      stdout: "",
      stderr: expect.stringContaining('"unauthorized"'),
      exitCode: 1,
    });
  }
});

inBrowser("the stream snippets print the output once, or why there is none", async () => {
  const agent = await beckon.createAgent();
  const silent = await beckon.createAgent({ model_settings: { stream: "never" } });
  const model = await startModelServer();
  onTestFinished(() => model.close());
  model.script(status(400));
  const provider = await beckon.createProvider(model.url);
  const failing = await beckon.createAgent({ model: `${provider.name}/one` });

  const start = (attempt: number) => ({ type: "run.output.start", data: { step: 1, attempt } });
  const delta = (text: string) => ({ type: "run.output.delta", data: { kind: "text", text } });
  const end = (complete: boolean) => ({ type: "run.output.end", data: { step: 1, complete } });
  const finished = { type: "run.finished", data: { output: "Hello" } };
  const first = [start(1), delta("Hel"), end(false)];
  const repeated = await startStream(...first, start(2), delta("Hello"), end(true), finished);
  // A reader that resumes or reads slowly misses deltas.
  const partial = await startStream(start(1), delta("He"), end(false), finished);
  // JavaScript counts U+2028 as the end of a line, event streams do not.
  const separated = "a\u2028b";
  const whole = { type: "run.finished", data: { output: separated } };
  const inOneLine = await startStream(start(1), delta(separated), end(true), whole);
  const long = { artifact_id: "art_1", bytes: 70_000 };
  const stored = await startStream({ type: "run.finished", data: long });
  const ended = await startStream({ type: "run.started", run_id: "run_1", data: {} });

  const page = await open(agent.id, { path: "?mode=stream" });
  for (const language of ["TypeScript", "Python"]) {
    const code = await codeOf(page, language);
    const calling = ({ id, token }: { id: string; token: string }) =>
      execute(language, code.replace(agent.id, id), token);
    const reading = ({ url }: { url: string }) =>
      execute(language, code.replace(beckon.url, url), "token");
    const printed = async (result: ReturnType<typeof execute>) => {
      const { stdout, ...rest } = await result;
      expect(rest, language).toEqual({ stderr: "", exitCode: 0 });
      return stdout.replaceAll("\n", " ");
    };
    expect(await printed(calling(silent))).toMatch(/ run\.step {2}run\.finished Hello $/);
    expect(await printed(reading(repeated))).toMatch(
      /start Hello run\.output\.end {2}run\.finished $/,
    );
    expect(await printed(reading(partial))).toMatch(/ run\.finished Hello $/);
    expect(await printed(reading(inOneLine))).toMatch(
      /start a\u2028b run\.output\.end {2}run\.finished $/,
    );
    expect(await printed(reading(stored))).toContain("art_1");
    expect(await calling(failing), language).toMatchObject({
      stdout: expect.stringMatching(/run\.failed\n$/),
      stderr: expect.stringContaining("model_error"),
      exitCode: 1,
    });
    expect(await reading(ended), language).toMatchObject({
      stdout: "\nrun.started\n",
      stderr: expect.stringMatching(/The stream ended without run\.finished: .*run_1/),
      exitCode: 1,
    });
  }
});

inBrowser("the token is revealed for a moment, rotated, revoked and issued again", async () => {
  const agent = await beckon.createAgent({ name: "Refund desk" });
  const page = await open(agent.id);
  await button(page, "Reveal").click();
  await page.getByText(agent.token).waitFor();
  await page.evaluate("dispatchEvent(new Event('blur'))");
  await page.getByText(agent.token).waitFor({ state: "detached" });

  await button(page, "Rotate").click();
  await page.getByLabel("In 1 day").check();
  await button(page, "Rotate token").click();
  const dialog = page.getByRole("dialog", { name: "New API token" });
  const rotated = (await dialog.getByText(/^bka_/).textContent()) ?? "";
  await button(page, "Done").click();
  await page.getByText("The previous token stops").waitFor();
  expect([await statusOf(agent), await statusOf({ ...agent, token: rotated })]).toEqual([200, 200]);
  // Another rotation would end the token that is still in its grace period.
  await button(page, "Rotate").click();
  await page.getByRole("status").getByText("This rotation ends it at once.").waitFor();
  await button(page, "Cancel").click();

  await button(page, "Revoke").click();
  await button(page, "Revoke token").click();
  await page.getByText("This agent has no token").waitFor();
  expect([await statusOf(agent), await statusOf({ ...agent, token: rotated })]).toEqual([401, 401]);

  await button(page, "Issue token").click();
  const issued = (await dialog.getByText(/^bka_/).textContent()) ?? "";
  expect(await statusOf({ ...agent, token: issued })).toBe(200);
  await button(page, "Done").click();
  await button(page, "Reveal").click();
  await page.getByText(issued).waitFor();
});

inBrowser("a token that is issued after a lost rotation and a revoke is valid", async () => {
  const agent = await beckon.createAgent();
  const page = await open(agent.id);
  const rotation = /\/token\/rotate$/;
  await page.route(rotation, async (route) => {
    await route.fetch();
    await route.abort();
  });
  await button(page, "Rotate").click();
  await page.getByLabel("Now").check();
  await button(page, "Rotate token").click();
  await page.getByRole("alert").waitFor();
  await button(page, "Cancel").click();
  await page.unroute(rotation);
  await button(page, "Revoke").click();
  await button(page, "Revoke token").click();
  await button(page, "Issue token").click();
  const dialog = page.getByRole("dialog", { name: "New API token" });
  const issued = (await dialog.getByText(/^bka_/).textContent()) ?? "";
  expect(await statusOf({ ...agent, token: issued })).toBe(200);
});

inBrowser(
  "a repeated rotation issues the lost token in its dialog, and another one later",
  async () => {
    const agent = await beckon.createAgent();
    const page = await open(agent.id);
    const rotation = /\/token\/rotate$/;
    const lost: string[] = [];
    const lose = async () => {
      await page.route(rotation, async (route) => {
        lost.push((await (await route.fetch()).json()).data.token);
        await route.abort();
      });
      await button(page, "Rotate").click();
      await page.getByLabel("Now").check();
      await button(page, "Rotate token").click();
      await page.getByRole("alert").waitFor();
      await page.unroute(rotation);
    };
    const dialog = page.getByRole("dialog", { name: "New API token" });
    const issued = () => dialog.getByText(/^bka_/).textContent();

    await lose();
    await button(page, "Rotate token").click();
    expect(lost).toContain(await issued());
    await button(page, "Done").click();

    await lose();
    await button(page, "Cancel").click();
    await button(page, "Reveal").click();
    await page.getByText(lost.at(-1) ?? "").waitFor();
    await button(page, "Hide").click();
    await button(page, "Rotate").click();
    await page.getByLabel("Now").check();
    await button(page, "Rotate token").click();
    expect(lost).not.toContain(await issued());
  },
);

inBrowser("a token that was issued elsewhere is still valid after another is issued", async () => {
  const agent = await beckon.createAgent();
  const page = await open(agent.id);
  await button(page, "Revoke").click();
  await button(page, "Revoke token").click();
  await page.getByText("This agent has no token").waitFor();
  const { body } = await beckon.call(`/agents/${agent.id}/token/rotate`, { method: "POST" });
  await button(page, "Issue token").click();
  const dialog = page.getByRole("dialog", { name: "New API token" });
  const issued = (await dialog.getByText(/^bka_/).textContent()) ?? "";
  expect(await statusOf({ ...agent, token: issued })).toBe(200);
  expect(await statusOf({ ...agent, token: body.data.token })).toBe(200);
});

inBrowser("a token that was revoked elsewhere is found missing, and can be issued", async () => {
  const agent = await beckon.createAgent();
  const page = await open(agent.id);
  await beckon.call(`/agents/${agent.id}/token`, { method: "DELETE" });
  await button(page, "Reveal").click();
  await page.getByText("This agent has no token").waitFor();
  await button(page, "Issue token").waitFor();
});

inBrowser("calls that cannot be read are not said to be the first", async () => {
  const agent = await beckon.createAgent();
  await beckon.invoke(agent, "Hello");
  const page = await openDashboard(beckon.url, { as: editor, path: `/w/${workspaceId}/keys` });
  await page.route(/\/runs\?/, (route) => route.fulfill({ status: 400, json: {} }));
  await page.goto(`${beckon.url}/w/${workspaceId}/agents/${agent.id}/connect`);
  await page.getByText("Calls could not be loaded.").waitFor();
  await page.getByRole("heading", { name: "Last call" }).waitFor();
});

inBrowser("a viewer gets the code and no token", async () => {
  const agent = await beckon.createAgent({ name: '<img src=x onerror="document.title=1">' });
  await beckon.invoke(agent, "<script>document.title = 1</script>");
  const page = await open(agent.id, { as: viewer, viewport: viewports.narrow, theme: "dark" });
  await page.getByText("<script>document.title = 1</script>").waitFor();
  for (const name of ["Reveal", "Rotate", "Revoke"])
    await expect.poll(() => button(page, name).getAttribute("aria-disabled")).toBe("true");
  await button(page, "Rotate").hover();
  await page.getByRole("tooltip", { name: "This needs the role editor." }).waitFor();
  await expect
    .poll(() => page.title())
    .toBe('Connect <img src=x onerror="document.title=1"> · Beckon');
  // Long lines of code scroll and are not wrapped. A long indented line would be wrapped after its
  // indent, which would look like an empty line.
  const code = page.getByRole("region", { name: /: curl$/ });
  await expect
    .poll(() => code.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))
    .toBeGreaterThan(0);
  await expectAccessible(page);
});
