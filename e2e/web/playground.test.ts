// This file is long because all its tests share the functions that open and use the playground.
import type { Locator, Page } from "playwright-core";
import { afterAll, expect, onTestFinished } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { startHeldModel } from "../../server/test/held-model.ts";
import { says, startModelServer, withDelivery } from "../../server/test/model-server.ts";
import { addPerson, setupToken } from "../../server/test/people.ts";
import { startTargetServer } from "../../server/test/target-server.ts";
import { expectAccessible } from "./accessibility.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard, viewports } from "./dashboard.ts";
import { holdRequests, renderFrames } from "./hold-requests.ts";
import { reloadWithStream } from "./live-stream.ts";

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const shop = await startTargetServer();
const echoed = shop.answer;
afterAll(() => shop.close());
const xss = `<img src=x onerror="throw 1"><script>throw 2</script>[a](javascript:throw%203)`;

const pathOf = (agentId: string, rest: string) =>
  `/w/${owner.workspaceId}/agents/${agentId}${rest}`;
const openAgent = (agentId: string, rest = "/playground", as: { cookie: string } = owner) =>
  openDashboard(beckon.url, { as, path: pathOf(agentId, rest) });
const agentOf = async (id: string) => (await beckon.call(`/agents/${id}`)).body.data;
const runsOf = async (id: string) => (await beckon.call(`/agents/${id}/runs`)).body.data;

const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });
const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: typeof name === "string" });

const tab = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Agent" }).getByRole("link", { name });

/** Waits until a field has this value. */
const expectValue = (page: Page, name: string, value: string) =>
  expect.poll(() => field(page, name).inputValue()).toBe(value);

async function send(page: Page, message: string): Promise<void> {
  await field(page, "Message").fill(message);
  // While a run is active, the page has the button “Stop” instead of “Run” and ignores
  // Control+Enter. After a reload, the last run counts as active until the page has read it.
  await button(page, "Run").waitFor();
  await page.keyboard.press("Control+Enter");
}

inBrowser(
  "the suggested message runs the saved agent, whose tool call unfolds in place",
  async () => {
    const { id } = await beckon.createAgent({ tools: [{ type: "clock" }] });
    const page = await openAgent(id);
    await button(page, "Try /call clock {}").click();
    await button(page, "Run").click();
    await page.getByText("Succeeded").waitFor();
    await page.getByText(/clock answered/).waitFor();
    await page.getByText("Cost $0.00").waitFor();
    expect(await page.getByRole("treeitem").count()).toBe(0);
    await page.locator("summary", { hasText: "clock" }).click();
    await page.getByRole("tree", { name: "Result" }).getByText("time_zone").waitFor();
    const [run] = await runsOf(id);
    expect(run).toMatchObject({ source: "invoke", input: "/call clock {}", agent_version: 1 });
    await page.locator(`a[href="/w/${owner.workspaceId}/runs/${run.id}"]`).waitFor();
    await page.getByText("does not remember the one before").waitFor();
    await expectAccessible(page);
    await page.reload();
    await page.getByText(/clock answered/).waitFor();
  },
);

inBrowser("unsaved settings run as a draft and are still there after a reload", async () => {
  const { id } = await beckon.createAgent();
  const page = await openAgent(id);
  await field(page, "Instructions").fill("Answer in French.");
  await page.getByText("Runs as a draft with 1 unsaved change.").waitFor();
  await send(page, "Hello");
  await page.getByText("Succeeded").waitFor();
  await page.getByText("Draft", { exact: true }).waitFor();
  expect((await agentOf(id)).version).toBe(1);
  await expect
    .poll(() => runsOf(id))
    .toMatchObject([{ source: "draft", input: "Hello", output: "Hello" }]);

  page.on("dialog", (dialog) => void dialog.accept());
  await page.reload();
  await expectValue(page, "Instructions", "Answer in French.");
  await button(page, "Save").click();
  await page.getByText("Saved v2").waitFor();
  await expect
    .poll(() => agentOf(id))
    .toMatchObject({ version: 2, instructions: "Answer in French." });
  await send(page, "Again");
  await expect
    .poll(async () => (await runsOf(id))[0])
    .toMatchObject({
      source: "invoke",
      agent_version: 2,
    });
});

inBrowser("a draft run has the settings of the form, and says why no words appear", async () => {
  const held = await startHeldModel(beckon);
  const { id } = await beckon.createAgent({ model: held.model });
  const page = await openAgent(id);
  await field(page, "Instructions").fill("Answer in French.");
  // The page gets the run's id only when the model is called, so it misses the start of the call.
  const started = await holdRequests(page, /\/draft-runs$/, { isSent: true });
  const sent = page.waitForRequest(/\/draft-runs$/);
  await send(page, "Hello");
  expect((await sent).postDataJSON().config).toEqual({ instructions: "Answer in French." });
  await held.reached(1);
  await started.release();
  const reason = page.getByText(/^The run started before this page could read it/);
  await reason.waitFor();
  page.on("dialog", (dialog) => void dialog.accept());
  await page.reload();
  await reason.waitFor();
  held.release();
  await page.getByText("Succeeded").waitFor();
  expect(await reason.count()).toBe(0);
});

inBrowser("the next person in a tab sees no settings and messages of the one before", async () => {
  const { id } = await beckon.createAgent();
  const before = await addPerson(beckon, { role: "editor" });
  const next = await addPerson(beckon, { role: "editor" });
  const page = await openAgent(id, "/playground", before);
  await field(page, "Instructions").fill("Answer in French.");
  await send(page, "Hello");
  await page.getByText("Succeeded").waitFor();
  // The session ends while the tab does not show the dashboard.
  await page.goto("about:blank");
  await before.call("/sign-out", { method: "POST" });
  await page.goto(beckon.url + pathOf(id, "/playground"));
  await page.getByLabel("E-mail").fill(next.email);
  await page.getByLabel("Password", { exact: true }).fill(next.password);
  await page.keyboard.press("Enter");
  await button(page, /^Try /).waitFor();
  await expectValue(page, "Instructions", (await agentOf(id)).instructions);
  await expect.poll(() => page.getByText(/^Runs as a draft/).count()).toBe(0);
  expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain(before.id);
});

inBrowser("unsaved settings are still there if the same person signs in again", async () => {
  const { id } = await beckon.createAgent();
  const person = await addPerson(beckon, { role: "editor" });
  const page = await openAgent(id, "/settings", person);
  await field(page, "Instructions").fill("Answer in French.");
  await person.call("/sign-out", { method: "POST" });
  // The server closes the page's live stream, because its session has ended. The page then shows
  // the sign-in. After a reload, the sign-in is a page.
  await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
  page.on("dialog", (dialog) => void dialog.accept());
  await page.reload();
  await page.waitForURL(/\/sign-in\?next=/);
  await page.getByLabel("E-mail").fill(person.email);
  await page.getByLabel("Password", { exact: true }).fill(person.password);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/settings$/);
  await expectValue(page, "Instructions", "Answer in French.");
});

inBrowser("the first answer of the saved agent is written word by word", async () => {
  const model = await startModelServer();
  onTestFinished(() => model.close());
  const answer = says("One two three four five");
  const whole = await model.bytesOf(answer, { model: "scripted", stream: true, messages: [] });
  // The response of the model stalls and never ends. So the words that the page shows can come from
  // the stream only, and not from the finished run.
  model.script(withDelivery({ type: "stall", after: Math.round(whole * 0.6) }, answer));
  const provider = await beckon.createProvider(model.url);
  const { id } = await beckon.createAgent({ model: `${provider.name}/scripted` });
  const page = await openAgent(id);
  await page.getByTitle("Live", { exact: true }).waitFor();
  for (const [index, message] of ["Hello", "Hello again"].entries()) {
    await send(page, message);
    await page.getByRole("article").nth(index).getByText(/^One/).waitFor();
    await button(page, "Stop").click();
    await button(page, "Run").waitFor();
  }
});

inBrowser("a run whose last events were dropped in this tab is read again", async () => {
  const held = await startHeldModel(beckon);
  const { id } = await beckon.createAgent({ model: held.model });
  const page = await openAgent(id);
  const { reset } = await reloadWithStream(page);
  await send(page, "Hello");
  await held.reached(1);
  await page.getByRole("article").getByText("Running").waitFor();
  await page.evaluate(`{
    const receive = livePort.onmessage;
    livePort.onmessage = (message) => message.data.type === "run event" || receive(message);
  }`);
  held.release();
  await expect.poll(() => runsOf(id)).toMatchObject([{ status: "succeeded" }]);
  await reset();
  await page.getByRole("article").getByText("Succeeded").waitFor();
});

inBrowser("a run is stopped, and a paused agent says why it does not run", async () => {
  const held = await startHeldModel(beckon);
  const { id } = await beckon.createAgent({ model: held.model });
  const page = await openAgent(id);
  await send(page, "Hello");
  await held.reached(1);
  expect(await button(page, "Clear").getAttribute("aria-disabled")).toBe("true");
  await page.route(/\/cancel$/, (route) => route.fulfill({ status: 502 }), { times: 1 });
  await button(page, "Stop").click();
  await page.getByText("It is not known whether the run was stopped.").waitFor();
  await button(page, "Stop").click();
  await page.getByText("The run was cancelled.").waitFor();
  expect((await runsOf(id))[0].status).toBe("cancelled");
  await button(page, "Run").waitFor();
  await beckon.call(`/agents/${id}/pause`, { body: { reason: "Holiday" } });
  await page.getByText("Holiday").waitFor();
  await button(page, "Run").hover();
  await page.getByText("The agent is paused. Resume it to run it.").first().waitFor();
});

inBrowser("numbers that are estimated after Stop look estimated on all pages", async () => {
  const held = await startHeldModel(beckon);
  const { id } = await beckon.createAgent({ model: held.model });
  const price = { input_micros_per_million: 2_000_000_000, output_micros_per_million: 0 };
  await beckon.call("/prices", { body: { model: held.model, ...price } });
  const page = await openAgent(id);
  await send(page, "Hello");
  await held.reached(1);
  await button(page, "Stop").click();
  await page.getByText("The run was cancelled.").waitFor();
  const estimated = (area: Locator) => area.getByTitle("Estimated").allTextContents();
  const expectEstimated = (area: Locator, ...patterns: readonly RegExp[]) =>
    expect
      .poll(() => estimated(area))
      .toEqual(patterns.map((pattern) => expect.stringMatching(pattern)));
  const tokens = /^~\d+ in · \d+ out$/;
  const cost = /^~\$\d/;
  await expectEstimated(page.getByRole("article"), tokens, cost);
  await tab(page, "Runs").click();
  await page.getByText(/^1 in total · ~\$\d/).waitFor();
  await expectEstimated(page.getByRole("table"), tokens, cost);
  await page.getByRole("link", { name: "Overview" }).first().click();
  await expectEstimated(page.getByRole("main").locator("dl"), cost);
});

inBrowser("an error of the model is told in plain words with what to do", async () => {
  // The provider's server is not a model server and responds with 404 to all requests.
  const { id: providerId } = await beckon.createProvider(`${shop.url}/v1`, "gone");
  const { id } = await beckon.createAgent({ model: "gone/x" });
  shop.answer = (_, response) => response.writeHead(404).end("nothing");
  onTestFinished(() => {
    shop.answer = echoed;
  });
  const page = await openAgent(id);
  await send(page, "Hello");
  await page.getByText("The run got no usable answer from the model.").waitFor();
  await page.getByText("Check the provider's key and address, and the model's name").waitFor();
  await expect
    .poll(() => page.getByRole("link", { name: "Open the providers" }).getAttribute("href"))
    .toMatch(/\/providers$/);
  await page.getByText(/gone does not list its models/).waitFor();
  const checked = page.waitForResponse((response) => response.url().includes(providerId));
  await button(page, "Check").click();
  expect((await checked).status()).toBe(200);
});

inBrowser("changes of two tabs to different settings are merged", async () => {
  const { id } = await beckon.createAgent({ description: "" });
  const [one, two] = [await openAgent(id, "/settings"), await openAgent(id, "/settings")];
  await field(two, "Description").fill("From the second tab");
  await one.getByRole("textbox", { name: "Steps" }).fill("7");
  await button(one, "Save").click();
  await one.getByText("Saved v2").waitFor();
  await button(two, "Save").click();
  await two.getByText("Saved v3").waitFor();
  await expect.poll(() => two.getByRole("textbox", { name: "Steps" }).inputValue()).toBe("7");
  await expect
    .poll(() => agentOf(id))
    .toMatchObject({
      description: "From the second tab",
      limits: { max_steps: 7 },
    });
});

inBrowser("the same setting changed in two tabs is offered: theirs or yours", async () => {
  const { id } = await beckon.createAgent({ description: "Old", name: "Desk" });
  const page = await openAgent(id, "/settings");
  await field(page, "Description").fill("Mine");
  await field(page, "Name").fill("My desk");
  const body = { description: "Theirs", instructions: "Theirs too" };
  await beckon.call(`/agents/${id}`, { method: "PATCH", body });
  await button(page, "Save").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: "Theirs Theirs" }).check();
  await expect.poll(() => dialog.getByRole("group").count()).toBe(1);
  await expectAccessible(page);
  await button(page, "Save merged").click();
  await page.getByText("Saved v3").waitFor();
  await expect
    .poll(() => agentOf(id))
    .toMatchObject({
      name: "My desk",
      description: "Theirs",
      instructions: "Theirs too",
    });
  await expectValue(page, "Description", "Theirs");
});

inBrowser("a click into instructions with other line breaks changes nothing", async () => {
  const { id } = await beckon.createAgent({ instructions: "One\r\nTwo" });
  const page = await openAgent(id);
  await field(page, "Instructions").focus();
  await send(page, "Hello");
  await page.getByText("Succeeded").waitFor();
  expect((await runsOf(id)).map(({ source }: { source: string }) => source)).toEqual(["invoke"]);
  await beckon.call(`/agents/${id}`, { method: "PATCH", body: { instructions: "Theirs" } });
  await page.reload();
  await expectValue(page, "Instructions", "Theirs");
});

inBrowser("wrong settings are told at their field, and nothing is saved", async () => {
  const { id } = await beckon.createAgent({ name: "Desk" });
  const page = await openAgent(id, "/settings");
  await field(page, "Name").fill(" ");
  await field(page, "Model").fill("nonsense");
  await page.getByRole("textbox", { name: "Temperature" }).fill("3");
  await page.getByRole("textbox", { name: "Steps" }).fill("1.5");
  await page.getByRole("textbox", { name: "Time limit" }).fill("");
  await page.getByRole("textbox", { name: "Attempts" }).fill("101");
  await field(page, "Metadata as JSON").fill("{");
  await button(page, "Save").click();
  await page.locator('[name="name"][aria-invalid=true]:focus').waitFor();
  for (const [name, message] of [
    ["name", "Must not be blank."],
    ["model", "Must be provider/model, for example demo/echo."],
    ["temperature", "Use 2 or less."],
    ["max_steps", "Use a whole number."],
    ["timeout_seconds", "Fill this in."],
    ["max_attempts", "Use 100 or less."],
    ["metadata", "Is not JSON: write an object"],
  ] as const) {
    const control = page.locator(`main :is(input, textarea)[name="${name}"]`);
    await expect
      .poll(async () => {
        const note = await control.getAttribute("aria-describedby");
        return page.locator(`[id="${note}"]`).allTextContents();
      })
      .toEqual([expect.stringContaining(message)]);
  }
  expect((await agentOf(id)).version).toBe(1);

  await button(page, "Discard").click();
  await field(page, "Model").fill("nobody/x");
  await page.getByText("There is no provider “nobody” in this workspace.").waitFor();
  await button(page, "Save").click();
  await page.getByText(/there is no provider nobody\. Models here begin with/i).waitFor();
  expect((await agentOf(id)).version).toBe(1);
});

/** Returns an agent that uses a deleted provider, and a provider that was added with its name. */
async function agentOfDeletedProvider(name: string) {
  const models = await startModelServer();
  onTestFinished(() => models.close());
  models.script(says("Hello"));
  const first = await beckon.createProvider(models.url, name);
  const agent = await beckon.createAgent({ model: `${first.name}/m` });
  await beckon.call(`/agents/${agent.id}`, { method: "DELETE" });
  await beckon.call(`/providers/${first.id}`, { method: "DELETE" });
  await beckon.call(`/agents/${agent.id}/restore`, { method: "POST" });
  const second = await beckon.createProvider(models.url, first.name);
  return { id: agent.id, model: `${first.name}/m`, providerId: second.id };
}

inBrowser("an agent whose provider was added again is saved with the new one", async () => {
  const { id, model, providerId } = await agentOfDeletedProvider("renewed");
  const page = await openAgent(id);
  const notice = page.getByText("The agent still uses an earlier provider of this name.");
  await notice.waitFor();
  await send(page, "Hello");
  await page.getByText("was deleted. Save the agent again if there is a provider of").waitFor();
  await field(page, "Model").fill("demo/echo");
  await notice.waitFor({ state: "detached" });
  await field(page, "Model").fill(model);
  await button(page, "Use the current provider").click();
  await notice.waitFor({ state: "detached" });
  expect(await agentOf(id)).toMatchObject({ version: 2, provider_id: providerId });
  await send(page, "Hello");
  await page.getByText("Succeeded").waitFor();
});

inBrowser("unsaved changes are saved together with the current provider", async () => {
  const { id, providerId } = await agentOfDeletedProvider("renamed");
  const page = await openAgent(id);
  const use = button(page, "Use the current provider");
  await use.waitFor();
  await field(page, "Instructions").fill("Be brief.");
  const notice = page.getByText(/an earlier provider of this name\. Save to use the current one\./);
  await notice.waitFor();
  expect(await use.count()).toBe(0);
  await button(page, "Save").click();
  await notice.waitFor({ state: "detached" });
  const saved = { version: 2, instructions: "Be brief.", provider_id: providerId };
  expect(await agentOf(id)).toMatchObject(saved);
});

inBrowser("the playground reports a wrong setting only until it is corrected", async () => {
  const { id } = await beckon.createAgent();
  const page = await openAgent(id);
  const model = await field(page, "Model").inputValue();
  await field(page, "Model").fill("nonsense");
  await send(page, "Hello");
  const problem = page.getByText(/^A setting that is not saved has an error/);
  await problem.waitFor();
  await field(page, "Model").fill(model);
  await problem.waitFor({ state: "detached" });
  expect(await runsOf(id)).toEqual([]);
});

inBrowser("a limit that is not a number is not saved as no limit", async () => {
  const { id } = await beckon.createAgent({ limits: { max_concurrent_runs: 5 } });
  const page = await openAgent(id, "/settings");
  await page.getByLabel("Runs at the same time").clear();
  await page.getByLabel("Runs at the same time").pressSequentially("1e");
  await button(page, "Save").click();
  await page.getByText("Use a number.").waitFor();
  expect(await agentOf(id)).toMatchObject({ limits: { max_concurrent_runs: 5 } });
});

inBrowser("what a run may cost is typed in dollars and read back", async () => {
  const { id } = await beckon.createAgent();
  const page = await openAgent(id, "/settings");
  const topOf = async (control: Locator) => (await control.boundingBox())?.y ?? Number.NaN;
  const neighbor = page.getByRole("textbox", { name: "Reserved output" });
  await neighbor.waitFor();
  // The page can still move between the two measurements, so they are repeated.
  await expect
    .poll(async () => (await topOf(field(page, "Cost of a run"))) - (await topOf(neighbor)))
    .toBe(0);
  await field(page, "Cost of a run").fill("0.0000001");
  await button(page, "Save").click();
  await page.getByText("Use at most 6 decimals.").waitFor();
  await field(page, "Cost of a run").fill("5");
  await button(page, "Save").click();
  await page.getByText("Saved v2").waitFor();
  await expect.poll(() => agentOf(id)).toMatchObject({ limits: { max_cost_micros: 5_000_000 } });
  await page.reload();
  await expectValue(page, "Cost of a run", "5");
  await field(page, "Cost of a run").fill("0.29");
  await beckon.call(`/agents/${id}`, {
    method: "PATCH",
    body: { limits: { max_cost_micros: 100_000 } },
  });
  await button(page, "Save").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: "Theirs 0.10 dollars" }).waitFor();
  await dialog.getByRole("radio", { name: "Yours 0.29 dollars" }).check();
  await button(page, "Save merged").click();
  await page.getByText("Saved v4").waitFor();
  await expect.poll(() => agentOf(id)).toMatchObject({ limits: { max_cost_micros: 290_000 } });
  await field(page, "Cost of a run").fill("");
  await button(page, "Save").click();
  await page.getByText("Saved v5").waitFor();
  await expect.poll(() => agentOf(id)).toMatchObject({ limits: { max_cost_micros: null } });
  await page.goto(`${beckon.url}${pathOf(id, "/versions?to=5")}`);
  await page.getByText("0.29 dollars").waitFor();
});

inBrowser("leaving unsaved settings asks", async () => {
  const { id } = await beckon.createAgent({ name: "Desk" });
  const page = await openAgent(id, "/settings");
  await field(page, "Instructions").fill("Not saved");
  await tab(page, "Playground").click();
  await field(page, "Message").waitFor();
  await expect.poll(() => field(page, "Instructions").inputValue()).toBe("Not saved");
  await page.getByRole("link", { name: "Agents" }).first().click();
  await page.getByText("Leave without saving?").waitFor();
  await button(page, "Cancel").click();
  expect(page.url()).toContain("/playground");
});

inBrowser("a model is picked from the list of all providers, or typed", async () => {
  const { model } = await startHeldModel(beckon);
  const { id } = await beckon.createAgent();
  const page = await openAgent(id);
  await button(page, "Choose a model").click();
  await page.getByRole("option", { name: "demo/echo" }).waitFor();
  await page.getByPlaceholder("Find a model, or type provider/model").fill(model);
  await page.keyboard.press("Enter");
  await expectValue(page, "Model", model);
  await button(page, "Choose a model").click();
  await page.getByPlaceholder("Find a model, or type provider/model").fill("demo/other");
  await page.getByRole("option", { name: "Use “demo/other”" }).click();
  await expectValue(page, "Model", "demo/other");
});

inBrowser("the input of an earlier run is filled in, and both outputs are compared", async () => {
  const agent = await beckon.createAgent();
  const { body } = await beckon.invoke(agent, "Good morning");
  const page = await openAgent(agent.id, `/playground?run=${body.run_id}`);
  await expectValue(page, "Message", "Good morning");
  await send(page, "Good evening");
  await page.getByRole("link", { name: "Compare with the earlier run" }).click();
  const side = (name: string) => page.getByRole("dialog").getByRole("region", { name });
  await side("Earlier").getByText("Good morning").waitFor();
  await side("Now").getByText("Good evening").waitFor();
  await expect.poll(() => page.url()).toMatch(/\?run=run_\w+&compare=run_\w+$/);
});

inBrowser("a message and the earlier run are kept while another tab is open", async () => {
  const agent = await beckon.createAgent();
  const { body } = await beckon.invoke(agent, "Good morning");
  const page = await openAgent(agent.id, `/playground?run=${body.run_id}`);
  await expectValue(page, "Message", "Good morning");
  await field(page, "Message").fill("Good day");
  await tab(page, "Settings").click();
  await page.waitForURL(/\/settings$/);
  await tab(page, "Playground").click();
  await page.getByText("Earlier run:").waitFor();
  await expectValue(page, "Message", "Good day");
  await page.reload();
  await page.getByText("Earlier run:").waitFor();
  await expectValue(page, "Message", "Good day");
  await button(page, "Forget the earlier run").click();
  await page.getByText("Earlier run:").waitFor({ state: "detached" });
});

inBrowser("an earlier run that was deleted can be forgotten", async () => {
  const { id } = await beckon.createAgent();
  const page = await openAgent(id, "/playground?run=run_deleted");
  const problem = page.getByText("The earlier run could not be loaded.");
  await problem.waitFor();
  await button(page, "Forget the earlier run").click();
  await problem.waitFor({ state: "detached" });
});

inBrowser("the input of an earlier run is not filled in again after it was sent", async () => {
  const agent = await beckon.createAgent();
  const { body } = await beckon.invoke(agent, "Good morning");
  const page = await openAgent(agent.id, `/playground?run=${body.run_id}`);
  await expectValue(page, "Message", "Good morning");
  await send(page, "Good evening");
  await page.getByRole("article").getByText("Succeeded").waitFor();
  await tab(page, "Settings").click();
  await page.waitForURL(/\/settings$/);
  await tab(page, "Playground").click();
  await page.getByText("Earlier run:").waitFor();
  await renderFrames(page);
  await expectValue(page, "Message", "");
});

inBrowser("a run whose response comes while another tab is open is not started twice", async () => {
  const { id } = await beckon.createAgent();
  const page = await openAgent(id);
  await field(page, "Instructions").fill("Answer in French.");
  page.on("dialog", (dialog) => void dialog.accept());
  const held = await holdRequests(page, /\/draft-runs$/, { isSent: true, times: 1 });
  await send(page, "Hello");
  await held.reached;
  await tab(page, "Settings").click();
  await field(page, "Message").waitFor({ state: "detached" });
  await held.release();
  await tab(page, "Playground").click();
  await expectValue(page, "Message", "Hello");
  await page.reload();
  await expectValue(page, "Message", "Hello");
  await button(page, "Run").click();
  await page.getByRole("article").getByText("Succeeded").waitFor();
  await expectValue(page, "Message", "");
  expect(await runsOf(id)).toHaveLength(1);
  await send(page, "Hello");
  await expect.poll(() => runsOf(id)).toHaveLength(2);
});

inBrowser("the earlier run shows its end when it happens", async () => {
  const model = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: model.model });
  const { body } = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
  await model.reached(1);
  const path = `/w/${owner.workspaceId}/runs/${body.run_id}`;
  const page = await openDashboard(beckon.url, { as: owner, path });
  await page.getByTitle("Live", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Open in playground" }).click();
  const earlier = page.getByRole("paragraph").filter({ hasText: "Earlier run:" });
  await earlier.getByText("Running").waitFor();
  model.release();
  await earlier.getByText("Succeeded").waitFor();
});

inBrowser("a run that loads late does not replace what was typed", async () => {
  const agent = await beckon.createAgent();
  const { body } = await beckon.invoke(agent, "Good morning");
  const page = await openAgent(agent.id);
  const held = await holdRequests(page, new RegExp(`/runs/${body.run_id}$`));
  await page.goto(beckon.url + pathOf(agent.id, `/playground?run=${body.run_id}`));
  await held.reached;
  await field(page, "Message").fill("Good day");
  await held.release();
  await page.getByText("Earlier run:").waitFor();
  await expectValue(page, "Message", "Good day");
});

inBrowser("a run shows the version that it has executed, not that of the page", async () => {
  const { id } = await beckon.createAgent();
  const page = await openAgent(id);
  await field(page, "Message").waitFor();
  await beckon.call(`/agents/${id}`, { method: "PATCH", body: { instructions: "Be brief." } });
  await send(page, "Hello");
  await page.getByRole("article").getByText("v2", { exact: true }).waitFor();
});

inBrowser("hostile texts of settings, messages and answers are shown as text", async () => {
  const { id } = await beckon.createAgent({
    name: xss,
    description: xss,
    instructions: xss,
    metadata: { [xss]: xss },
    tools: [{ type: "clock" }],
  });
  const page = await openAgent(id);
  await send(page, xss);
  await page.getByText("Succeeded").waitFor();
  await send(page, `/call ${xss.replaceAll(" ", "")} {"a": "${xss.replaceAll('"', "'")}"}`);
  await page.getByText("Rejected", { exact: true }).waitFor();
  await page.locator("summary", { hasText: "<img" }).click();
  await expect
    .poll(() => page.locator("main img, main script, a[href^=javascript]").count())
    .toBe(0);
  await tab(page, "Settings").click();
  await expect.poll(() => field(page, "Name").inputValue()).toBe(xss);
});

inBrowser("a viewer sees everything and can change and run nothing", async () => {
  const { id } = await beckon.createAgent({
    instructions: "Be brief.",
    tools: [{ type: "clock" }],
  });
  const page = await openAgent(id, "/playground", await addPerson(beckon, { role: "viewer" }));
  await expect.poll(() => field(page, "Instructions").inputValue()).toBe("Be brief.");
  for (const name of ["Instructions", "Model", "Message"])
    await expect.poll(() => field(page, name).getAttribute("readonly")).not.toBeNull();
  for (const name of ["Run", "Add tool", "Try it: clock", "Remove clock"])
    await expect.poll(() => button(page, name).getAttribute("aria-disabled")).toBe("true");
  await tab(page, "Settings").click();
  await field(page, "Name").waitFor();
  await expect
    .poll(() => page.locator("main :is(input, textarea):not([readonly])").count())
    .toBe(0);
  await expect.poll(() => page.locator("main select:not(:disabled)").count()).toBe(0);
  await expectAccessible(page);
});

inBrowser("on a phone the conversation and the settings are two tabs", async () => {
  const { id } = await beckon.createAgent({ name: "n".repeat(200) });
  const path = pathOf(id, "/playground");
  const page = await openDashboard(beckon.url, { as: owner, path, viewport: viewports.narrow });
  await send(page, "Hello");
  await page.getByText("Succeeded").waitFor();
  await expect.poll(() => field(page, "Instructions").isVisible()).toBe(false);
  await tab(page, "Settings").click();
  await field(page, "Instructions").waitFor();
  await expect
    .poll(() => page.evaluate("document.documentElement.scrollWidth"))
    .toBe(viewports.narrow.width);
});
