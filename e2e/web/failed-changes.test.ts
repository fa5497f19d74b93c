import type { Page } from "playwright-core";
import { expect } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { addPerson, setupToken } from "../../server/test/people.ts";
import { createOwner } from "./accounts.ts";
import { inBrowser, openDashboard } from "./dashboard.ts";

/**
 * Tests what the dashboard shows after a change has failed because somebody else had changed or
 * deleted the same row, and after the response to a change was lost.
 */

const beckon = await startTestBeckon();
const owner = await createOwner(beckon.url, await setupToken(beckon));
const [before, theirs, typed, corrected] = ["before", "theirs", "typed", "corrected"].map(
  (path) => `http://127.0.0.1:9/${path}`,
) as [string, string, string, string];

const open = (path: string) =>
  openDashboard(beckon.url, { as: owner, path: `/w/${owner.workspaceId}${path}` });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });
/** A row of a table, also behind an open dialog, where it has no role. */
const rowOf = (page: Page, text: string) => page.locator("tr", { hasText: text });

/** Presses a button that opens a menu, then an item of the menu. */
async function choose(page: Page, opener: string, item: string): Promise<void> {
  await button(page, opener).click();
  await page.getByRole("menuitem", { name: item }).click();
}

/** Closes the open form and confirms that what was typed is discarded. */
async function discard(page: Page): Promise<void> {
  await page.keyboard.press("Escape");
  await button(page, "Discard changes").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

/** Calls `act` while the server executes requests of this method, but their responses are lost. */
async function losingResponses(
  page: Page,
  method: "POST" | "PATCH" | "DELETE",
  act: () => Promise<void>,
): Promise<void> {
  const url = /\/api\/public\//;
  await page.route(url, async (route) => {
    if (route.request().method() !== method) return route.continue();
    await route.fetch();
    await route.abort();
  });
  await act();
  await page.unrouteAll({ behavior: "wait" });
}

const change = async (path: string, body: object) =>
  expect((await beckon.call(path, { method: "PATCH", body })).status).toBe(200);

const createKey = async (name: string): Promise<string> =>
  (await beckon.call("/keys", { body: { name, preset: "observer" } })).body.data.id;
const createPlan = async (name: string): Promise<string> =>
  (await beckon.call("/plans", { body: { name, tokens: 1_000 } })).body.data.id;

/** Creates an agent with a model of a new provider of the workspace. Returns the model. */
async function unpricedModel(provider: string): Promise<string> {
  await beckon.createProvider("http://127.0.0.1:9/v1", provider);
  await beckon.createAgent({ model: `${provider}/large` });
  return `${provider}/large`;
}

inBrowser("a provider can be edited after somebody else has changed its address", async () => {
  const { id } = await beckon.createProvider(before, "shared");
  const page = await open("/providers");
  await choose(page, "More about shared", "Edit");
  await field(page, "Base URL").fill(typed);
  await change(`/providers/${id}`, { base_url: theirs });
  await button(page, "Save and check").click();
  await page.getByText(`Somebody else has changed the base URL to ${theirs}.`).waitFor();
  await page.getByTitle(theirs, { exact: true }).waitFor();
  await discard(page);
  await choose(page, "More about shared", "Edit");
  await expect.poll(() => field(page, "Base URL").inputValue()).toBe(theirs);
  await field(page, "Base URL").fill(typed);
  await button(page, "Save and check").click();
  await page.getByRole("dialog", { name: "Saved shared" }).waitFor();
});

inBrowser("an address that was saved without a response can be corrected", async () => {
  await beckon.createProvider(before, "lost");
  const page = await open("/providers");
  await choose(page, "More about lost", "Edit");
  await field(page, "Base URL").fill(typed);
  await losingResponses(page, "PATCH", async () => {
    await button(page, "Save and check").click();
    await page.getByText("It is not known whether the provider was saved.").waitFor();
  });
  await page.locator("li[aria-label=lost]").getByTitle(typed, { exact: true }).waitFor();
  await discard(page);
  await choose(page, "More about lost", "Edit");
  await field(page, "Base URL").fill(corrected);
  await button(page, "Save and check").click();
  await page.getByRole("dialog", { name: "Saved lost" }).waitFor();
});

inBrowser(
  "a provider that was just added can be edited after somebody else changed it",
  async () => {
    const page = await open("/providers?new=1");
    await page.getByLabel("API key").fill("sk-0123456789ab");
    await field(page, "Base URL").fill(before);
    await field(page, "Name").fill("added");
    await button(page, "Add and check").click();
    await page.getByRole("dialog", { name: "Added added" }).waitFor();
    await button(page, "Edit").click();
    await field(page, "Base URL").fill(typed);
    const [{ id }] = (await beckon.call("/providers")).body.data.filter(
      ({ name }: { name: string }) => name === "added",
    );
    await change(`/providers/${id}`, { base_url: theirs });
    await button(page, "Save and check").click();
    await page.getByText(`Somebody else has changed the base URL to ${theirs}.`).waitFor();
    await page.keyboard.press("Escape");
    await button(page, "Discard changes").click();
    await button(page, "Edit").click();
    await expect.poll(() => field(page, "Base URL").inputValue()).toBe(theirs);
  },
);

inBrowser("a price that somebody else has set meanwhile is shown and can be replaced", async () => {
  const model = await unpricedModel("priced");
  const page = await open("/prices");
  await choose(page, `More about the price of ${model}`, "Set price");
  const dialog = page.getByRole("dialog");
  await field(page, "Input").fill("3");
  await field(page, "Output").fill("4");
  const rates = { input_micros_per_million: 1_250_000, output_micros_per_million: 2_000_000 };
  await beckon.call("/prices", { body: { model, ...rates } });
  await button(page, "Set price").click();
  await dialog.getByText("$1.25 for input and $2.00 for output").waitFor();
  expect(await dialog.getByText("PATCH").count()).toBe(0);
  await button(page, "Set price").click();
  await dialog.waitFor({ state: "detached" });
  await rowOf(page, model).getByText("$4.00").waitFor();
});

inBrowser("a price that was set without a response can be corrected", async () => {
  const model = await unpricedModel("mistyped");
  const page = await open("/prices");
  await choose(page, `More about the price of ${model}`, "Set price");
  await field(page, "Input").fill("30");
  await field(page, "Output").fill("40");
  await losingResponses(page, "POST", async () => {
    await button(page, "Set price").click();
    await page.getByText("It is not known whether the price was set.").waitFor();
  });
  await field(page, "Input").fill("3");
  await button(page, "Set price").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await rowOf(page, model).getByText("$3.00").waitFor();
});

inBrowser("a price that somebody else has deleted meanwhile can be set again", async () => {
  const model = await unpricedModel("unpriced");
  const rates = { input_micros_per_million: 1_000_000, output_micros_per_million: 2_000_000 };
  const { id } = (await beckon.call("/prices", { body: { model, ...rates } })).body.data;
  const page = await open("/prices");
  await choose(page, `More about the price of ${model}`, "Change price");
  await field(page, "Input").fill("3");
  await beckon.call(`/prices/${id}`, { method: "DELETE" });
  await button(page, "Set price").click();
  await page.getByText("There is no price with this id in this workspace.").waitFor();
  await rowOf(page, model).getByText("Unknown", { exact: true }).waitFor();
  await button(page, "Set price").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await rowOf(page, model).getByText("$3.00").waitFor();
});

inBrowser(
  "a row that somebody else has deleted leaves the list after an action on it",
  async () => {
    const page = await open("/keys");
    const model = await unpricedModel("deletedprice");
    const rates = { input_micros_per_million: 1_000_000, output_micros_per_million: 2_000_000 };
    const price = (await beckon.call("/prices", { body: { model, ...rates } })).body.data;
    const provider = await beckon.createProvider(before, "deletedprovider");
    const member = await addPerson(beckon, { role: "viewer" });
    const invited = { email: "linus@example.com", role: "viewer" };
    const invitation = (await beckon.call("/invitations", { body: invited })).body.data;
    const agent = await beckon.createAgent({ name: "Limited" });
    const ceiling = `/limits/agent/${agent.id}`;
    await beckon.call(ceiling, { method: "PUT", body: { limit_micros: 1_000_000 } });
    const [editedKey, deletedKey] = [await createKey("Edited key"), await createKey("Deleted key")];
    const [editedPlan, deletedPlan] = [
      await createPlan("editedplan"),
      await createPlan("deletedplan"),
    ];
    const row = (text: string) => rowOf(page, text);
    const press = (name: string) => button(page, name).click();
    const more = (name: string, item: string) => choose(page, `More about ${name}`, item);
    for (const [path, url, shown, act] of [
      [
        "/keys",
        `/keys/${editedKey}`,
        row("Edited key"),
        async () => {
          await more("Edited key", "Edit");
          await field(page, "Name").fill("Renamed");
          return () => press("Save key");
        },
      ],
      [
        "/keys",
        `/keys/${deletedKey}`,
        row("Deleted key"),
        async () => {
          await more("Deleted key", "Delete");
          return () => press("Delete key");
        },
      ],
      [
        "/plan",
        `/plans/${editedPlan}`,
        row("editedplan"),
        async () => {
          await more("the plan editedplan", "Change");
          await field(page, "Tokens").fill("5");
          return () => press("Save plan");
        },
      ],
      [
        "/plan",
        `/plans/${deletedPlan}`,
        row("deletedplan"),
        async () => {
          await more("the plan deletedplan", "Delete");
          return () => press("Delete plan");
        },
      ],
      [
        "/plan",
        ceiling,
        page.getByLabel("More about the ceiling of the agent Limited"),
        async () => {
          await more("the ceiling of the agent Limited", "Delete");
          return () => press("Delete ceiling");
        },
      ],
      [
        "/prices",
        `/prices/${price.id}`,
        row(model).getByText("$2.00"),
        async () => {
          await more(`the price of ${model}`, "Delete");
          return () => press("Delete price");
        },
      ],
      [
        "/providers",
        `/providers/${provider.id}`,
        page.locator("li[aria-label=deletedprovider]"),
        async () => {
          await more("deletedprovider", "Delete");
          return () => press("Delete provider");
        },
      ],
      [
        "/members",
        `/invitations/${invitation.id}`,
        row(invited.email),
        async () => {
          await press("Revoke");
          return () => press("Revoke invitation");
        },
      ],
      [
        "/members",
        `/members/${member.id}`,
        row(member.email),
        async () => {
          await row(member.email)
            .getByRole("button", { name: /^Actions for/ })
            .click();
          await page.getByRole("menuitem", { name: "Remove…" }).click();
          return () => press("Remove member");
        },
      ],
    ] as const) {
      await page.goto(`${beckon.url}/w/${owner.workspaceId}${path}`);
      await shown.waitFor();
      const send = await act();
      expect((await beckon.call(url, { method: "DELETE" })).status).toBe(204);
      await send();
      await shown.waitFor({ state: "detached" });
      expect(await page.getByText(/^(Set price|Price of)/).count()).toBe(0);
    }
  },
);

inBrowser("a role of a member who has left cannot be changed, and the page says so", async () => {
  const { id, email } = await addPerson(beckon, { role: "viewer" });
  const page = await open("/members");
  const row = rowOf(page, email);
  await row.getByRole("button", { name: /^Actions for/ }).click();
  await page.getByRole("menuitem", { name: "Change role…" }).click();
  await page.getByRole("radio", { name: "Editor" }).check();
  expect((await beckon.call(`/members/${id}`, { method: "DELETE" })).status).toBe(204);
  await button(page, "Change role").click();
  await row.waitFor({ state: "detached" });
  await page.getByText("The role was not changed.").first().waitFor();
});

inBrowser("a row that was deleted without a response leaves the list", async () => {
  await createKey("Deleted unheard");
  const page = await open("/keys");
  await choose(page, "More about Deleted unheard", "Delete");
  await losingResponses(page, "DELETE", async () => {
    await button(page, "Delete key").click();
    await rowOf(page, "Deleted unheard").waitFor({ state: "detached" });
  });
});

inBrowser("a person who has left a workspace without a response leaves its pages", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  const page = await openDashboard(beckon.url, {
    as: person,
    path: `/w/${owner.workspaceId}/members`,
  });
  await rowOf(page, person.email)
    .getByRole("button", { name: /^Actions for/ })
    .click();
  await page.getByRole("menuitem", { name: "Leave workspace" }).click();
  await losingResponses(page, "DELETE", async () => {
    await button(page, "Leave workspace").click();
    await page.waitForURL(`${beckon.url}/`);
  });
  await page.getByRole("heading", { name: "You are in no workspace" }).waitFor();
});

inBrowser(
  "a person who has lowered their own role without a response sees the new one",
  async () => {
    const person = await addPerson(beckon, { role: "owner" });
    const page = await openDashboard(beckon.url, {
      as: person,
      path: `/w/${owner.workspaceId}/members`,
    });
    const row = rowOf(page, person.email);
    await row.getByRole("button", { name: /^Actions for/ }).click();
    await page.getByRole("menuitem", { name: "Change role…" }).click();
    await page.getByRole("radio", { name: "Viewer" }).check();
    await losingResponses(page, "PATCH", async () => {
      await button(page, "Change role").click();
      await row.getByRole("cell", { name: "Viewer" }).waitFor();
    });
    await page.locator("button[aria-disabled=true]", { hasText: "Invite" }).waitFor();
  },
);

inBrowser("a creation without a response says so, is listed, and can be repeated", async () => {
  const { id: agentId } = await beckon.createAgent();
  const page = await open("/keys");
  const list = (path: string) => async () => (await beckon.call(path)).body.data as unknown[];
  for (const [path, opener, label, text, submit, what, shown, listed] of [
    [
      `/agents/${agentId}/triggers?new=blank`,
      undefined,
      "Name",
      "Twice",
      "Create",
      "the trigger was created",
      page.locator("main").getByText("Twice", { exact: true }),
      list(`/agents/${agentId}/triggers`),
    ],
    [
      "/members",
      "Invite",
      "E-mail",
      "grace@example.com",
      "Make link",
      "the invitation was made",
      rowOf(page, "grace@example.com"),
      list("/invitations"),
    ],
    [
      "/plan?plan=new",
      undefined,
      "Name",
      "once",
      "Create plan",
      "the plan was saved",
      rowOf(page, "once"),
      list("/plans"),
    ],
    [
      "/keys?new=1",
      undefined,
      "Name",
      "One key",
      "Create key",
      "the key was saved",
      rowOf(page, "One key"),
      list("/keys"),
    ],
  ] as const) {
    await page.goto(`${beckon.url}/w/${owner.workspaceId}${path}`);
    if (opener !== undefined) await button(page, opener).click();
    await field(page, label).fill(text);
    const count = (await listed()).length;
    await losingResponses(page, "POST", async () => {
      await button(page, submit).click();
      await page.getByText(`It is not known whether ${what}.`).waitFor();
    });
    await shown.waitFor();
    await page.getByText(`Press ${submit} again without changes`).waitFor();
    const dialog = page.getByRole("dialog");
    await button(page, submit).click();
    await dialog.getByText("It is not known").waitFor({ state: "detached" });
    await expect.poll(async () => (await listed()).length).toBe(count + 1);
  }
});

inBrowser("a workspace whose response was lost is listed, and is created once", async () => {
  const page = await open("/settings");
  await button(page, "New workspace").click();
  await page.getByRole("dialog").getByLabel("Name").fill("Created once");
  await losingResponses(page, "POST", async () => {
    const listed = page.waitForResponse(
      async (response) =>
        response.url().endsWith("/me") && (await response.text()).includes("Created once"),
    );
    await Promise.all([listed, button(page, "Create workspace").click()]);
    await page.getByText("It is not known whether the workspace was created.").waitFor();
    await page.getByText("Press Create workspace again without changes").waitFor();
  });
  await button(page, "Create workspace").click();
  await button(page, "Workspace Created once").click();
  await page.getByRole("menuitem", { name: "Created once (open)" }).waitFor();
  expect(await page.getByRole("menuitem", { name: /^Created once/ }).count()).toBe(1);
});
